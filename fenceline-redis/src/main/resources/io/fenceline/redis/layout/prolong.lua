-- prolong.lua: until when a lease runs that is started again. Included by scripts that do so.
--
-- Never shorter than before, since an older request, for a shorter lease, may come late, and the holder
-- has been told of the newer one. But what lies further ahead than its term is long was written before
-- the clock was set back, and does not count.
local function prolonged(ends, term_before, term)
  return math.max(math.min(ends, now + term_before), now + term)
end
