/**
 * Appends an entry if the log ends with the entry before it. The entry's offset is its id in the
 * stream, so that reading continues by offset. If `mark` is 1, the entry starts an epoch. The
 * script then resets the checkpoint's term to 0, so that a checkpoint of any term may replace it:
 * the log before the entry may be another cluster's, with a checkpoint of a higher term. If the log
 * already has the entry, writes the key `touch`. The entry may have been written over an earlier
 * connection, and the WAIT that follows covers only writes of its own connection. All keys are in
 * one slot.
 *
 * Returns `{"appended"}` if the log now has the entry, even if it had it before. Otherwise returns
 * `{"fenced"}`, or `{"truncated", offset, hash}` with the log's end.
 *
 * KEYS: log, touch, checkpoint. ARGV: offset, hash of the entry before, hash, header, body, oldest
 * offset to retain, mark. The newest entry is never trimmed, so that the end of the log survives.
 */
export const APPEND_SCRIPT = `
local offset = tonumber(ARGV[1])
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local head, hash = 0, ''
if last then head = tonumber(string.match(last[1], '^%d+')); hash = last[2][2] end
if head < offset - 1 then return {'truncated', head, hash} end
if head >= offset then
  local own = redis.call('XRANGE', KEYS[1], offset .. '-0', offset .. '-0')[1]
  if not own or own[2][2] ~= ARGV[3] then return {'fenced'} end
  redis.call('SET', KEYS[2], offset)
  return {'appended'}
end
if hash ~= ARGV[2] then return {'fenced'} end
redis.call('XADD', KEYS[1], offset .. '-0', 'x', ARGV[3], 'h', ARGV[4], 'b', ARGV[5])
if ARGV[7] == '1' and redis.call('EXISTS', KEYS[3]) == 1 then redis.call('HSET', KEYS[3], 'term', 0) end
redis.call('XTRIM', KEYS[1], 'MINID', '~', ARGV[6] .. '-0')
return {'appended'}
`;

/**
 * Stores a checkpoint. Returns `stored`; or `fenced` if one of a later term, or of a later position
 * in the same term, is stored. KEYS: checkpoint. ARGV: term, offset, then names and values.
 */
export const STORE_SCRIPT = `
local term, offset = unpack(redis.call('HMGET', KEYS[1], 'term', 'offset'))
if term then
  local later = tonumber(term) - tonumber(ARGV[1])
  if later > 0 or (later == 0 and tonumber(offset) > tonumber(ARGV[2])) then return 'fenced' end
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'term', ARGV[1], 'offset', ARGV[2], unpack(ARGV, 3))
return 'stored'
`;
