package io.fenceline.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Curves on logarithmic axes, as SVG that reads on light and dark pages. */
final class Plot {
  private static final int WIDTH = 640;
  private static final int HEIGHT = 360;
  private static final int LEFT = 70;
  private static final int RIGHT = 120;
  private static final int TOP = 40;
  private static final int BOTTOM = 50;
  private static final List<String> COLOURS =
      List.of("#d1495b", "#3066be", "#2e933c", "#edae49", "#8e44ad", "#00798c");

  private final String title;
  private final String across;
  private final String up;
  private final List<Curve> curves = new ArrayList<>();

  /**
   * A point.
   *
   * @param x across, above zero
   * @param y up, above zero
   */
  record Point(double x, double y) {}

  private record Curve(String name, List<Point> points) {}

  Plot(String title, String across, String up) {
    this.title = title;
    this.across = across;
    this.up = up;
  }

  /** One more curve; points that a logarithm can't show are left out. */
  void add(String name, List<Point> points) {
    List<Point> shown = points.stream().filter(p -> p.x > 0 && p.y > 0).toList();
    if (!shown.isEmpty()) {
      curves.add(new Curve(name, shown));
    }
  }

  boolean isEmpty() {
    return curves.isEmpty();
  }

  String svg() {
    int lowX = decade(all().stream().mapToDouble(Point::x).min().orElse(1), false);
    int highX =
        Math.max(lowX + 1, decade(all().stream().mapToDouble(Point::x).max().orElse(1), true));
    int lowY = decade(all().stream().mapToDouble(Point::y).min().orElse(1), false);
    int highY =
        Math.max(lowY + 1, decade(all().stream().mapToDouble(Point::y).max().orElse(1), true));
    StringBuilder svg = new StringBuilder();
    svg.append(
        format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\""
                + " font-family=\"sans-serif\" font-size=\"12\">%n",
            WIDTH, HEIGHT));
    svg.append(format("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n", WIDTH, HEIGHT));
    text(svg, WIDTH / 2.0, 22, "middle", title);
    text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", across);
    for (int x = lowX; x <= highX; x++) {
      double at = LEFT + (WIDTH - LEFT - RIGHT) * (x - lowX) / (double) (highX - lowX);
      line(svg, at, TOP, at, HEIGHT - BOTTOM);
      text(svg, at, HEIGHT - BOTTOM + 18, "middle", power(x));
    }
    for (int y = lowY; y <= highY; y++) {
      double at = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - lowY) / (double) (highY - lowY);
      line(svg, LEFT, at, WIDTH - RIGHT, at);
      text(svg, LEFT - 8, at + 4, "end", power(y));
    }
    text(svg, LEFT - 8, TOP - 10, "end", up);
    for (int i = 0; i < curves.size(); i++) {
      curve(svg, curves.get(i), COLOURS.get(i % COLOURS.size()), i, lowX, highX, lowY, highY);
    }
    return svg.append("</svg>\n").toString();
  }

  private List<Point> all() {
    return curves.stream().flatMap(curve -> curve.points.stream()).toList();
  }

  private static void curve(
      StringBuilder svg,
      Curve curve,
      String colour,
      int number,
      int lowX,
      int highX,
      int lowY,
      int highY) {
    List<String> places = new ArrayList<>();
    for (Point point : curve.points) {
      double x = LEFT + (WIDTH - LEFT - RIGHT) * (Math.log10(point.x) - lowX) / (highX - lowX);
      double y =
          HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (Math.log10(point.y) - lowY) / (highY - lowY);
      places.add(format("%.1f,%.1f", x, y));
      svg.append(format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>%n", x, y, colour));
    }
    svg.append(
        format(
            "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>%n",
            String.join(" ", places), colour));
    double legend = TOP + 12 + 18.0 * number;
    svg.append(
        format(
            "<rect x=\"%d\" y=\"%.0f\" width=\"10\" height=\"10\" fill=\"%s\"/>%n",
            WIDTH - RIGHT + 12, legend - 9, colour));
    text(svg, WIDTH - RIGHT + 28, legend, "start", curve.name);
  }

  private static int decade(double value, boolean up) {
    double log = Math.log10(value);
    return (int) (up ? Math.ceil(log) : Math.floor(log));
  }

  private static String power(int decade) {
    return decade < 0
        ? Double.toString(Math.pow(10, decade))
        : String.format(Locale.ROOT, "%,.0f", Math.pow(10, decade));
  }

  private static void line(StringBuilder svg, double x1, double y1, double x2, double y2) {
    svg.append(
        format(
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>%n",
            x1, y1, x2, y2));
  }

  private static void text(StringBuilder svg, double x, double y, String anchor, String words) {
    svg.append(
        format(
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#333333\">%s</text>%n",
            x, y, anchor, words));
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
