/** Checks the text of IP addresses. */
import type { Bytes } from '../../protocol/bytes.ts';

/** True for an address of that version of IP. */
export function isAddress(text: Bytes, version: 4 | 6): boolean {
  const isIpv4 = (quads: Bytes): boolean =>
    /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}$/.test(`${quads}`) && !quads.endsWith('.');
  if (version === 4) return isIpv4(text);
  const last = text.slice(text.lastIndexOf(':') + 1);
  const mapped = last.includes('.') && isIpv4(last) ? `${text.slice(0, -last.length)}0:0` : text;
  const [head = '', tail, ...more] = mapped.split('::');
  const groups = [head, tail ?? ''].flatMap((part) => (part === '' ? [] : part.split(':')));
  const fits = tail === undefined ? groups.length === 8 : groups.length < 8;
  return more.length === 0 && fits && groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group));
}
