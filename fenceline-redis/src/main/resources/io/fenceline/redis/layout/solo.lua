-- solo.lua: reads and writes a solo head, as table.lua describes it. Included by scripts that know the
-- clock in 'now'.
--
-- It keeps no times that Redis keeps itself: the grant ends when the key does. Until the first renewal
-- that also says since when it is held, so that a claim has less to write.
local function solo_record(key, head)
  local number, facts = string.match(head, '^(%d+) (.*)$', 18)
  local kind, count, total, term, delay, client, since = unpack(cmsgpack.unpack(facts))
  local left = redis.call('PTTL', key)
  -- The clock is read again, and after what is left: if the server stands still in between, the end
  -- comes out too late. By 'now' it would come out too early, and someone else be granted before it.
  local read = redis.call('TIME')
  -- Without an end, which is not our doing, it is as if the clock had been set back: pulled in.
  local ends =
    read[1] * 1000 + math.floor(read[2] / 1000) + (left < 0 and 2 * term or left)
  return {
    kind, count, total, tonumber(number), since or math.min(now, ends - term), term, delay, client, ends
  }
end

local function write_solo(key, letter, owner, record)
  local kind, count, total, number, since, term, delay, client, ends = unpack(record)
  local facts = cmsgpack.pack({kind, count, total, term, delay, client, since})
  redis.call('SET', key, letter .. owner .. number .. ' ' .. facts, 'PX', ends - now)
end
