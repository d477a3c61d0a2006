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
