/** A font in which every letter is the same box, so that pages look the same on machines with other fonts. */

/** The units of a letter's height; each is as wide as six tenths of it. */
const [EM, WIDTH, ASCENT, DESCENT] = [1000, 600, 800, -200];
/** The box: left, bottom, right and top. */
const BOX = [50, 0, 550, 600] as const;

/** Numbers of 16 bits, big-endian. */
function shorts(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, 2 * i);
  return bytes;
}

function longs(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * i);
  return bytes;
}

function padded(table: Buffer): Buffer {
  return Buffer.concat([table, Buffer.alloc(-table.length & 3)]);
}

/** The sum of a table's words, as OpenType wants it. */
function checksum(table: Buffer): number {
  let sum = 0;
  for (let i = 0; i < table.length; i += 4) sum = (sum + table.readUInt32BE(i)) >>> 0;
  return sum;
}

/** The outline: one contour of four points, each as the step from the one before it. */
function glyph([left, bottom, right, top]: typeof BOX): Buffer {
  const head = shorts(1, left, bottom, right, top, 3, 0);
  const [width, height] = [right - left, top - bottom];
  const steps = shorts(left, width, 0, -width, bottom, 0, height, 0);
  return padded(Buffer.concat([head, Buffer.from([1, 1, 1, 1]), steps]));
}

/** Every character of Unicode is glyph 1 (cmap, format 13). */
function characters(): Buffer {
  return Buffer.concat([shorts(0, 1, 3, 10), longs(12), shorts(13, 0), longs(28, 0, 1, 0x20, 0x10ffff, 1)]);
}

/** The bytes of the font, in TrueType's format (the OpenType specification, version 1.9). */
export function neutralFont(): Buffer {
  const outline = glyph(BOX);
  const box = shorts(...BOX);
  const tables: Readonly<Record<string, Buffer>> = {
    'OS/2': Buffer.concat([
      ...[shorts(3, WIDTH, 400, 5, 0), shorts(...Array<number>(10).fill(100)), shorts(0), Buffer.alloc(10)],
      ...[
        longs(1, 0, 0, 0),
        Buffer.from('NONE'),
        shorts(0x40, 0x20, 0xffff, ASCENT, DESCENT, 0, ASCENT, -DESCENT),
      ],
      ...[longs(1, 0), shorts(500, 600, 0, 0x20, 1)],
    ]),
    cmap: characters(),
    glyf: outline,
    head: Buffer.concat([
      ...[longs(0x10000, 0x10000, 0, 0x5f0f3cf5), shorts(3, EM), longs(0, 0, 0, 0), box],
      shorts(0, 8, 2, 0, 0),
    ]),
    hhea: Buffer.concat([
      longs(0x10000),
      shorts(ASCENT, DESCENT, 0, WIDTH, 50, 50, 550, 1, 0, 0, 0, 0, 0, 0, 0, 2),
    ]),
    hmtx: shorts(WIDTH, 0, WIDTH, BOX[0]),
    loca: shorts(0, 0, outline.length / 2),
    maxp: Buffer.concat([longs(0x10000), shorts(2, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)]),
    name: shorts(0, 0, 6),
    post: Buffer.concat([longs(0x30000, 0), shorts(-100, 50), longs(1, 0, 0, 0, 0)]),
  };
  const names = Object.keys(tables).sort();
  let offset = 12 + 16 * names.length;
  const entries: Buffer[] = [];
  for (const name of names) {
    const table = tables[name] as Buffer;
    entries.push(Buffer.from(name), longs(checksum(padded(table)), offset, table.length));
    offset += padded(table).length;
  }
  const log = Math.floor(Math.log2(names.length));
  const range = 16 * 2 ** log;
  const head = Buffer.concat([longs(0x10000), shorts(names.length, range, log, 16 * names.length - range)]);
  return Buffer.concat([head, ...entries, ...names.map((name) => padded(tables[name] as Buffer))]);
}
