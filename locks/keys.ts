/** Names of keys and channels, derived from a lock's name as Redisson does, and the cluster slot of a key. */

/** `prefix:{name}`; a name that contains a brace gets no further braces. */
export function prefixed(prefix: string, name: string): string {
  return name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`;
}

/** `{name}:suffix`, so that both keys are in one cluster slot. */
export function suffixed(name: string, suffix: string): string {
  return name.includes('{') ? `${name}:${suffix}` : `{${name}}:${suffix}`;
}

/** The name in braces, unless it contains a brace already. */
export function tagged(name: string): string {
  return name.includes('{') ? name : `{${name}}`;
}

/** The key that marks an abandoned request: if it arrives late, it must not take the lock. */
export const abandonedKey = (name: string, request: string): string =>
  `${prefixed('lostlock_abandoned', name)}:${request}`;

const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The cluster slot (0 to 16,383) of a key: CRC16 of the hash tag in its first braces, or of the whole key. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed, 'utf8')) crc = ((crc << 8) & 0xffff) ^ CRC16[(crc >> 8) ^ byte]!;
  return crc & 0x3fff;
}
