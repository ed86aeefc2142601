package io.fenceline.spring.boot.test;

import io.fenceline.spring.boot.FencelineAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** What a {@link FencelineTest} starts, besides the beans of the test. */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration(FencelineAutoConfiguration.class)
class FencelineSlice {}
