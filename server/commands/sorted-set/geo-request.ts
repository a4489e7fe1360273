/** The arguments of a search for places: GEOSEARCH, GEORADIUS and similar commands. */

import type { SortedSet } from '../../../keyspace/collections/sorted-set.ts';
import { type Place, placeOf } from '../../../keyspace/geo/geohash.ts';
import { middleOf, type Shape } from '../../../keyspace/geo/search.ts';
import { type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import {
  integer,
  integerBetween,
  Options,
  readScore,
  type ScoreTraits,
  wordAt,
} from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { placeFrom, unitOf } from './geo-parts.ts';

/** The differences between the search commands. */
export interface GeoVariant {
  readonly from: 'place' | 'member' | 'options';
  /** The position of the first option. */
  readonly options: number;
  /** The position of the key of the searched set. */
  readonly source: 1 | 2;
  /** Whether the command can store its result. */
  readonly stores: 'never' | 'asked' | 'always';
}

/** One search for places (https://redis.io/docs/latest/commands/geosearch/). */
export class GeoRequest {
  center: Place | undefined;
  extent: Shape['extent'] | undefined;
  /** The length of the request's unit in metres. */
  unit = 1;
  withDistance = false;
  withHash = false;
  withPlace = false;
  any = false;
  sort: 'ASC' | 'DESC' | undefined;
  /** The largest number of results; 0: all. */
  count = 0;
  target: Bytes | undefined;
  storesDistance = false;
  #fromMember = false;
  /** Whether there may be a polygon instead of a center and a shape. */
  readonly #takesPolygons: boolean;
  /** The error for a member that the set does not have. */
  readonly #lostMember: Dialect['lostMember'];
  readonly #traits: ScoreTraits;
  readonly #kind: GeoVariant;
  readonly #set: SortedSet | undefined;

  /**
   * Reads a request. Throws Redis' error for bad arguments.
   * @param set the searched set
   */
  constructor(kind: GeoVariant, argv: Argv<-5>, set: SortedSet | undefined, dialect: Dialect) {
    this.#takesPolygons = dialect.geoPolygons;
    this.#lostMember = dialect.lostMember;
    this.#traits = dialect;
    this.#kind = kind;
    this.#set = set;
    this.#readFixed(argv);
    const words = new Options(argv, kind.options);
    while (words.more()) {
      const option = words.next();
      if (!this.#readOption(option, words) && !this.#readShape(option, words)) fail(SYNTAX);
    }
    this.#check(cString(argv[0]));
  }

  /** Reads the arguments that have fixed positions in the older commands. */
  #readFixed(argv: Argv<-5>): void {
    const { from, stores } = this.#kind;
    if (stores === 'always') this.target = argv[1];
    if (from === 'place') {
      this.center = placeFrom(this.#traits, argv[2], argv[3]);
      this.#setRadius(argv[4], wordAt(argv, 5));
    } else if (from === 'member' && this.#set !== undefined) {
      this.#setMember(argv[2]);
      this.#setRadius(argv[3], argv[4]);
    }
  }

  #readOption(option: Bytes, words: Options): boolean {
    const { stores } = this.#kind;
    if (option === 'WITHDIST') this.withDistance = true;
    else if (option === 'WITHHASH') this.withHash = true;
    else if (option === 'WITHCOORD') this.withPlace = true;
    else if (option === 'ANY') this.any = true;
    else if (option === 'ASC' || option === 'DESC') this.sort = option;
    else if (option === 'COUNT' && words.left >= 1) {
      this.count = integer(words.value());
      if (this.count <= 0) fail('ERR COUNT must be > 0');
    } else if ((option === 'STORE' || option === 'STOREDIST') && stores === 'asked' && words.left >= 1) {
      this.target = words.value();
      this.storesDistance = option === 'STOREDIST';
    } else if (option === 'STOREDIST' && stores === 'always') this.storesDistance = true;
    else return false;
    return true;
  }

  /** Reads GEOSEARCH's options for the center and the shape. Returns false for any other option. */
  #readShape(option: Bytes, words: Options): boolean {
    if (this.#kind.from !== 'options') return false;
    const { extent } = this;
    if (extent !== undefined && 'polygon' in extent) {
      if (option !== 'BYPOLYGON' || words.left < 2) return false;
      this.#setPolygon(words);
      return true;
    }
    const fromPlace = this.center !== undefined && !this.#fromMember;
    if (option === 'FROMMEMBER' && words.left >= 1 && !fromPlace) this.#setMember(words.value());
    else if (option === 'FROMLONLAT' && words.left >= 2 && !this.#fromMember) {
      this.center = placeFrom(this.#traits, words.value(), words.value());
    } else if (option === 'BYRADIUS' && words.left >= 2 && !(extent !== undefined && 'width' in extent)) {
      this.#setRadius(words.value(), words.value());
    } else if (option === 'BYBOX' && words.left >= 3 && !(extent !== undefined && 'radius' in extent)) {
      this.#setBox(words.value(), words.value(), words.value());
    } else if (option === 'BYPOLYGON' && words.left >= 2 && this.#mayBePolygon) this.#setPolygon(words);
    else return false;
    return true;
  }

  /** Even if the set is missing, the rest of the request is validated. */
  #setMember(member: Bytes): void {
    this.#fromMember = true;
    const set = this.#set;
    if (set === undefined) return;
    this.center = placeOf(set.score(member) ?? fail(this.#lostMember(member)));
  }

  #setRadius(radiusText: Bytes, unitText: Bytes): void {
    const radius = readScore(this.#traits, radiusText, 'ERR need numeric radius');
    if (radius < 0) fail('ERR radius cannot be negative');
    this.unit = unitOf(unitText);
    this.extent = { radius: radius * this.unit };
  }

  #setBox(widthText: Bytes, heightText: Bytes, unitText: Bytes): void {
    const width = readScore(this.#traits, widthText, 'ERR need numeric width');
    const height = readScore(this.#traits, heightText, 'ERR need numeric height');
    if (width < 0 || height < 0) fail('ERR height or width cannot be negative');
    this.unit = unitOf(unitText);
    this.extent = { width: width * this.unit, height: height * this.unit };
  }

  get #mayBePolygon(): boolean {
    const isPlaced = this.center !== undefined || this.#fromMember || this.extent !== undefined;
    return this.#takesPolygons && !isPlaced;
  }

  #setPolygon(words: Options): void {
    const error = 'ERR invalid number of vertices';
    const corners = integerBetween(words.value(), -(2 ** 31), 2 ** 31 - 1, error, error);
    if (corners < 3 || words.left < 2 * corners)
      fail('ERR GEOSEARCH BYPOLYGON must have at least 3 vertices');
    const polygon = Array.from({ length: corners }, () =>
      placeFrom(this.#traits, words.value(), words.value()),
    );
    this.extent = { polygon };
    this.center = middleOf(polygon);
  }

  #check(name: Bytes): void {
    const { from, stores } = this.#kind;
    if (this.target !== undefined && (this.withDistance || this.withHash || this.withPlace)) {
      const what = stores === 'always' ? 'GEOSEARCHSTORE' : 'STORE option in GEORADIUS';
      fail(`ERR ${what} is not compatible with WITHDIST, WITHHASH and WITHCOORD options`);
    }
    if (from === 'options') {
      if (this.center === undefined && !this.#fromMember) {
        fail(`ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for ${name}`);
      }
      if (this.extent === undefined) {
        const shapes = this.#takesPolygons ? 'BYRADIUS, BYBOX and BYPOLYGON' : 'BYRADIUS and BYBOX';
        fail(`ERR exactly one of ${shapes} can be specified for ${name}`);
      }
    }
    if (this.any && this.count === 0) fail('ERR the ANY argument requires COUNT argument');
  }
}
