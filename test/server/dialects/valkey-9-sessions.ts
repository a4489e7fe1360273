/** Requests whose replies are compared with valkey-server 9.1, one a line. */
import type { Session } from './sessions.ts';

const FAR = '4102444800';

/** Sets strings of about the longest length that is embedded, with and without an earlier deadline. */
function embedded(): string {
  const lines: string[] = [];
  for (const [key, length] of [
    ['a', 112],
    ['k'.repeat(31), 82],
    ['k'.repeat(33), 78],
    ['k'.repeat(120), 1],
  ] as const) {
    for (const more of [0, 1]) {
      const texts = [length, Math.max(1, length - 8)].map((each) => 'v'.repeat(each + more));
      const requests = [`SET ${key} ${texts[0]}`, `EXPIRE ${key} 50`, `SET ${key} ${texts[1]}`];
      for (const request of [...requests, `EXPIRE ${key} 50`, `SET ${key} ${texts[1]} KEEPTTL`]) {
        lines.push(request, `OBJECT ENCODING ${key}`);
      }
      lines.push(`DEL ${key}`);
    }
  }
  return lines.join('\n');
}

export const SESSIONS: readonly Session[] = [
  [
    'GEOSEARCH BYPOLYGON',
    `
    GEOADD g 13.361389 38.115556 palermo 15.087269 37.502669 catania 12.758489 38.788135 edge 14.0154 37.4902 enna 2.35 48.85 paris
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 ASC WITHDIST WITHCOORD WITHHASH
    GEOSEARCH g BYPOLYGON 4 12 36 12 40 16 40 16 36 DESC WITHDIST
    GEOSEARCH g bypolygon 4 12 36 12 40 16 40 16 36 ASC COUNT 2
    GEOSEARCH g BYPOLYGON 4 12 36 12 40 16 40 16 36 COUNT 1 ANY
    GEOSEARCH g BYPOLYGON 5 -10 30 20 30 20 60 -10 60 14 38 ASC WITHDIST
    GEOSEARCH g BYPOLYGON 4 -179 -80 179 -80 179 80 -179 80 ASC WITHDIST
    GEOSEARCH g BYPOLYGON 3 13 37 13 37 13 37
    GEOSEARCH g BYPOLYGON 3 0 0 1 1 2 2 BYPOLYGON 4 12 36 12 40 16 40 16 36 ASC
    GEOSEARCH nosuch BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCHSTORE kept g BYPOLYGON 4 12 36 12 40 16 40 16 36
    ZRANGE kept 0 -1 WITHSCORES
    GEOSEARCHSTORE kept g BYPOLYGON 4 12 36 12 40 16 40 16 36 STOREDIST
    ZRANGE kept 0 -1
    GEOSEARCHSTORE kept nosuch BYPOLYGON 4 12 36 12 40 16 40 16 36
    EXISTS kept
    GEOSEARCH g BYPOLYGON 2 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 4 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON x 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 4294967299 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 x
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 89
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 FROMLONLAT 1 2
    GEOSEARCH g FROMLONLAT 1 2 BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCH g FROMMEMBER enna BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 FROMMEMBER enna
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 BYRADIUS 1 km
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 BYBOX 1 1 km
    GEOSEARCH g FROMLONLAT 1 2 ASC COUNT 3 WITHDIST
    GEOSEARCH g ASC COUNT 3 WITHDIST WITHHASH WITHCOORD
    GEORADIUS g 1 2 3 km BYPOLYGON 3 13 37 16 37 14.5 39.5`,
  ],
  [
    'fields with a TTL',
    `
    HSET h a 1 b 2 c 3
    HEXPIREAT h ${FAR} FIELDS 2 a nosuch
    HEXPIREAT h ${FAR} NX FIELDS 1 a
    HEXPIREAT h ${FAR} XX FIELDS 2 a b
    HEXPIREAT h ${FAR}0 GT FIELDS 2 a b
    HEXPIREAT h ${FAR} LT FIELDS 2 a b
    HEXPIREAT h ${FAR} NX XX FIELDS 1 a
    HEXPIREAT h ${FAR} GT LT FIELDS 1 a
    HEXPIREAT h ${FAR} FOO FIELDS 1 a
    HEXPIREAT h ${FAR} FIELDS 2 a
    HEXPIREAT h ${FAR} FIELDS 0 a
    HEXPIREAT h ${FAR} FIELDS x a
    HEXPIREAT h ${FAR} FIELD 1 a
    HEXPIREAT h -1 FIELDS 1 a
    HEXPIREAT h x FIELDS 1 a
    HEXPIREAT h 99999999999999999 FIELDS 1 a
    HEXPIREAT nosuch ${FAR} FIELDS 1 a
    OBJECT ENCODING h
    HEXPIRETIME h FIELDS 3 a c nosuch
    HPEXPIRETIME h FIELDS 1 a
    HEXPIRETIME h FIELDS 2 a
    HEXPIRETIME h FIELD 1 a
    HTTL h FIELDS 1 c
    HPTTL nosuch FIELDS 1 c
    HPERSIST h FIELDS 3 a c nosuch
    HPERSIST h FIELDS 2 a
    HEXPIRE h 0 FIELDS 1 a
    HEXPIREAT h 1 FIELDS 2 b c
    EXISTS h`,
  ],
  [
    'HSETEX, HGETEX and HGETDEL',
    `
    HSETEX h FIELDS 2 a 1 b 2
    HSETEX h EXAT ${FAR} FIELDS 1 a 3
    HEXPIRETIME h FIELDS 2 a b
    HSETEX h KEEPTTL FIELDS 1 a 4
    HEXPIRETIME h FIELDS 1 a
    HSETEX h FNX FIELDS 2 a 5 c 6
    HSETEX h FXX FIELDS 2 a 5 c 6
    HSETEX h FXX PXAT ${FAR}000 FIELDS 2 a 5 b 6
    HSETEX h NX FIELDS 1 a 5
    HSETEX nosuch XX FIELDS 1 a 5
    HSETEX h NX XX FIELDS 1 a 5
    HSETEX h EX 10 PX 10 FIELDS 1 a 5
    HSETEX h FIELDS 2 a 5
    HSETEX h FIELDS 0 a 5
    HSETEX h FOO FIELDS 1 a 5
    HSETEX h EX -1 FIELDS 1 a 5
    HSETEX h EXAT 1 FIELDS 1 b 5
    HSETEX gone EXAT 1 FIELDS 1 b 5
    EXISTS gone
    HGETALL h
    HGETEX h FIELDS 2 a nosuch
    HGETEX h EXAT ${FAR} FIELDS 1 a
    HGETEX h PERSIST FIELDS 1 a
    HEXPIRETIME h FIELDS 1 a
    HGETEX h PERSIST EX 5 FIELDS 1 a
    HGETEX h NX FIELDS 1 a
    HGETEX h FIELDS 3 a
    HGETEX nosuch FIELDS 1 a
    HGETEX h EXAT 1 FIELDS 1 a
    HSET h x 1 y 2
    HGETDEL h FIELDS 2 x nosuch
    HGETDEL h FIELDS 3 x
    HGETDEL h FIELD 1 x
    HGETDEL h FIELDS 1 y
    EXISTS h`,
  ],
  [
    'DELIFEQ and MSETEX',
    `
    SET k v
    DELIFEQ k w
    DELIFEQ k v
    DELIFEQ k v
    SADD s a
    DELIFEQ s a
    MSETEX 2 a 1 b 2 NX
    MSETEX 2 a 1 c 2 NX
    MSETEX 2 a 1 b 2 XX EXAT ${FAR}
    EXPIRETIME a
    MSETEX 1 a 1 KEEPTTL
    EXPIRETIME a`,
  ],
  ['which strings are embedded', embedded()],
];
