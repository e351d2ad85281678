/**
 * Groups log bodies by pattern as a stream.
 *
 * A body with a known masked form needs one lookup. A new form starts as its own pattern. When patterns of one
 * structure have many words at a position, they are merged into one with a variable there. Their ids become aliases of
 * its id. An id is a hash of the words of the first body, so members and shards find the same ids, in whatever order
 * bodies arrive.
 */

import { OTHER_ID, OTHER_TEMPLATE } from '../../queries/log-patterns/pattern-id.ts';
import { Tokens, type WireBody } from '../../queries/log-patterns/tokens.ts';
import { findVariablePositions } from './evidence.ts';
import { Pattern, type SavedPattern } from './pattern.ts';

export interface MinerOptions {
  /** Maximum number of patterns in one scope; further ones evict cold ones, or count as `other`. */
  readonly maxPatterns: number;
  /** Maximum number of patterns in all scopes. */
  readonly maxTotal: number;
  /** Maximum number of scopes; bodies of further ones count as `other`. */
  readonly maxScopes: number;
}

export const defaultMinerOptions: MinerOptions = { maxPatterns: 1000, maxTotal: 30_000, maxScopes: 5000 };

/** Result of adding one body; it is not corrected later. */
export interface AddResult {
  readonly id: string;
  readonly template: string;
  /** Whether this body is the first of the id. */
  readonly isNew: boolean;
  /** Ids that became aliases of `id` with this body. */
  readonly merged: readonly string[];
  /** Current pattern of the body. */
  readonly pattern: Pattern;
}

interface Scope {
  /**
   * By the hash of the masked form: every pattern by its own form, and forms that match a wider pattern while there is
   * room.
   */
  readonly shapes: Map<number, Pattern>;
  /** By structure. */
  readonly buckets: Map<number, Pattern[]>;
  /** Patterns of the buckets that cover more than one form. */
  readonly wide: Map<number, readonly Pattern[]>;
  readonly aliases: Map<string, string>;
  patterns: number;
  /** Number of bodies so far. */
  bodies: number;
  /** Pattern that counts bodies without a pattern. */
  other: Pattern | undefined;
  /** Forms seen once while there was no free slot. */
  admissionFilter: Int32Array | undefined;
}

interface SavedScope {
  readonly key: string;
  readonly bodies: number;
  readonly other?: SavedPattern;
  readonly door?: readonly number[];
  readonly aliases: readonly (readonly [string, string])[];
  readonly patterns: readonly SavedPattern[];
}

interface SavedMiner {
  readonly scopes: readonly SavedScope[];
  readonly beyond: SavedPattern;
}

const VERSION = 2;
const NONE: readonly string[] = [];
/** Creates the pattern of all bodies of a scope without a slot. */
const newOther = (): Pattern =>
  new Pattern({ hashes: [], parts: OTHER_TEMPLATE, structure: 0, shape: 0, count: 0, last: 0, told: 0 });
/** Adds a body to the `other` pattern. */
const addOther = (pattern: Pattern): AddResult => {
  pattern.count++;
  return { id: OTHER_ID, template: OTHER_TEMPLATE, isNew: false, merged: NONE, pattern };
};
/** Tokens of the current body, shared by all miners. */
const tokens = new Tokens();
const NO_PATTERNS: readonly Pattern[] = [];
const ADMISSION_FILTER_SIZE = 1024;
const ALIASES_PER_PATTERN = 4;
/** Number of bodies whose values are all observed; later every sixteenth is. */
const FULLY_OBSERVED_BODIES = 64;
const OBSERVE_MASK = 15;

const newScope = (): Scope => ({
  shapes: new Map(),
  buckets: new Map(),
  wide: new Map(),
  aliases: new Map(),
  patterns: 0,
  bodies: 0,
  other: undefined,
  admissionFilter: undefined,
});

/** Returns the value of retaining a pattern: its number of bodies, reduced by the bodies since its last one. */
const retentionScore = ({ count, last }: Pattern, now: number): number => Math.log2(1 + count) - (now - last) / 100_000;

export class Miner {
  readonly #options: MinerOptions;
  readonly #scopes = new Map<string, Scope>();
  /** Counts the bodies of scopes without a slot. */
  #overflowPattern = newOther();
  #total = 0;
  #evicted = 0;

  constructor(options: MinerOptions = defaultMinerOptions) {
    this.#options = options;
  }

  /** Number of patterns, scopes and evicted patterns. */
  get size(): { readonly patterns: number; readonly scopes: number; readonly evicted: number } {
    return { patterns: this.#total, scopes: this.#scopes.size, evicted: this.#evicted };
  }

  /** Assigns a pattern to a body. `key` identifies the tenant and service; keys share only memory. */
  add(key: string, body: string | WireBody): AddResult {
    const scope = this.#getOrCreateScope(key);
    if (scope === undefined) return addOther(this.#overflowPattern);
    tokens.read(body);
    scope.bodies++;
    const known = this.#findPattern(scope, tokens);
    if (known === undefined) return this.#addNew(scope, tokens);
    known.count++;
    known.last = scope.bodies;
    if (known.count <= FULLY_OBSERVED_BODIES || (known.count & OBSERVE_MASK) === 0) known.observe(tokens);
    return { id: known.id, template: known.template, isNew: false, merged: NONE, pattern: known };
  }

  /** Returns the current id of an id: itself, or that of the pattern it was merged into. */
  resolve(key: string, id: string): string {
    const aliases = this.#scopes.get(key)?.aliases;
    let currentId = id;
    for (let nextId = aliases?.get(currentId); nextId !== undefined; nextId = aliases?.get(currentId))
      currentId = nextId;
    return currentId;
  }

  /** Returns the patterns of one scope, unordered. */
  patterns(key: string): Pattern[] {
    return [...(this.#scopes.get(key)?.buckets.values() ?? [])].flat();
  }

  /** Returns the number of bodies of a scope that count as `other`. */
  other(key: string): number {
    return this.#scopes.get(key)?.other?.count ?? 0;
  }

  /** Returns the full state as versioned bytes. */
  serialize(): Uint8Array {
    const scopes = [...this.#scopes].map(([key, { bodies, other, aliases, admissionFilter }]): SavedScope => {
      const patterns = this.patterns(key).map((pattern) => pattern.serialize());
      return {
        key,
        bodies,
        aliases: [...aliases],
        patterns,
        ...(other && { other: other.serialize() }),
        ...(admissionFilter && { door: [...admissionFilter] }),
      };
    });
    const saved: SavedMiner = { scopes, beyond: this.#overflowPattern.serialize() };
    return Buffer.concat([Buffer.of(VERSION), Buffer.from(JSON.stringify(saved))]);
  }

  /** Restores a miner from the state of `serialize`; `undefined` for bytes of another version. */
  static restore(bytes: Uint8Array, options: MinerOptions = defaultMinerOptions): Miner | undefined {
    if (bytes[0] !== VERSION) return undefined;
    const miner = new Miner(options);
    const { scopes, beyond } = JSON.parse(Buffer.from(bytes.subarray(1)).toString()) as SavedMiner;
    miner.#overflowPattern = Pattern.restore(beyond);
    for (const saved of scopes) {
      const scope = { ...newScope(), aliases: new Map(saved.aliases), bodies: saved.bodies };
      if (saved.other !== undefined) scope.other = Pattern.restore(saved.other);
      if (saved.door !== undefined) scope.admissionFilter = Int32Array.from(saved.door);
      for (const savedPattern of saved.patterns) miner.#insert(scope, Pattern.restore(savedPattern));
      miner.#scopes.set(saved.key, scope);
    }
    return miner;
  }

  #getOrCreateScope(key: string): Scope | undefined {
    let scope = this.#scopes.get(key);
    if (scope === undefined && this.#scopes.size < this.#options.maxScopes) {
      scope = newScope();
      this.#scopes.set(key, scope);
    }
    return scope;
  }

  #findPattern(scope: Scope, tokens: Tokens): Pattern | undefined {
    let match = scope.shapes.get(tokens.shapeHash);
    if (match !== undefined) {
      if (match.mergedInto === undefined && !match.isEvicted) return match;
      while (match.mergedInto !== undefined) match = match.mergedInto;
      if (match.isEvicted) match = undefined;
    }
    match ??= this.#findMatching(scope, tokens);
    if (match !== undefined) this.#cacheShape(scope, tokens.shapeHash, match);
    else scope.shapes.delete(tokens.shapeHash);
    return match;
  }

  /** Returns the pattern with the fewest variables that covers the body. */
  #findMatching(scope: Scope, tokens: Tokens): Pattern | undefined {
    let best: Pattern | undefined;
    for (const pattern of scope.wide.get(tokens.structure) ?? NO_PATTERNS)
      if ((best === undefined || pattern.variables < best.variables) && pattern.covers(tokens.hashes)) best = pattern;
    return best;
  }

  #cacheShape(scope: Scope, shape: number, pattern: Pattern): void {
    if (scope.shapes.size >= this.#options.maxPatterns * 2) {
      scope.shapes.clear();
      for (const bucket of scope.buckets.values())
        for (const bucketPattern of bucket) scope.shapes.set(bucketPattern.shape, bucketPattern);
    }
    scope.shapes.set(shape, pattern);
  }

  #addNew(scope: Scope, tokens: Tokens): AddResult {
    if (!this.#claimSlot(scope, tokens.shapeHash)) {
      scope.other ??= newOther();
      return addOther(scope.other);
    }
    let pattern = Pattern.of(tokens);
    pattern.count = 1;
    pattern.last = scope.bodies;
    pattern.observe(tokens);
    this.#insert(scope, pattern);
    const ids = new Set<string>();
    const bucket = scope.buckets.get(pattern.structure) as Pattern[];
    for (
      let positions = findVariablePositions(pattern, bucket);
      positions !== undefined;
      positions = findVariablePositions(pattern, bucket)
    ) {
      const merged = this.#merge(scope, bucket, pattern.widen(positions));
      for (const id of merged.ids) ids.add(id);
      pattern = merged.pattern;
    }
    const isOwnIdNew = ids.delete(pattern.id);
    return { id: pattern.id, template: pattern.template, isNew: !isOwnIdNew, merged: [...ids], pattern };
  }

  #insert(scope: Scope, pattern: Pattern): void {
    const bucket = scope.buckets.get(pattern.structure);
    if (bucket === undefined) scope.buckets.set(pattern.structure, [pattern]);
    else bucket.push(pattern);
    if (pattern.isWide) this.#updateWidePatterns(scope, pattern.structure);
    this.#cacheShape(scope, pattern.shape, pattern);
    scope.patterns++;
    this.#total++;
  }

  #updateWidePatterns(scope: Scope, structure: number): void {
    const wide = scope.buckets.get(structure)?.filter(({ isWide }) => isWide) ?? NO_PATTERNS;
    if (wide.length === 0) scope.wide.delete(structure);
    else scope.wide.set(structure, wide);
  }

  /** Replaces all patterns that `wider` covers by it. */
  #merge(scope: Scope, bucket: Pattern[], wider: Pattern): { pattern: Pattern; ids: string[] } {
    const ids: string[] = [];
    let remaining = 0;
    for (const old of bucket) {
      if (wider.covers(old.hashes)) {
        ids.push(old.id);
        wider.absorb(old);
        if (old.id !== wider.id) this.#addAlias(scope, old.id, wider.id);
      } else bucket[remaining++] = old;
    }
    bucket.length = remaining;
    bucket.push(wider);
    this.#updateWidePatterns(scope, wider.structure);
    this.#uncacheShapes(scope, wider);
    this.#cacheShape(scope, wider.shape, wider);
    scope.patterns -= ids.length - 1;
    this.#total -= ids.length - 1;
    return { pattern: wider, ids };
  }

  /**
   * Removes forms that were found by matching, so that they are matched again after a new wide pattern. The result for
   * a body then depends only on the patterns, not on cached forms, and a restored miner behaves equally.
   */
  #uncacheShapes({ shapes }: Scope, { structure }: Pattern): void {
    for (const [shape, pattern] of shapes)
      if (pattern.structure === structure && (pattern.mergedInto !== undefined || pattern.shape !== shape))
        shapes.delete(shape);
  }

  #addAlias(scope: Scope, oldId: string, newId: string): void {
    scope.aliases.delete(newId);
    scope.aliases.set(oldId, newId);
    if (scope.aliases.size <= this.#options.maxPatterns * ALIASES_PER_PATTERN) return;
    const [oldest] = scope.aliases.keys();
    if (oldest !== undefined) scope.aliases.delete(oldest);
  }

  /**
   * Returns whether a new pattern gets a slot: a free one, or, if the form was seen before, that of the coldest
   * pattern.
   */
  #claimSlot(scope: Scope, shape: number): boolean {
    const isFull = scope.patterns >= this.#options.maxPatterns;
    if (!isFull && this.#total < this.#options.maxTotal) return true;
    scope.admissionFilter ??= new Int32Array(ADMISSION_FILTER_SIZE);
    const fingerprint = (shape % 0x7fff_ffff) | 0;
    const index = Math.floor(shape / 0x1_0000) % ADMISSION_FILTER_SIZE;
    if (scope.admissionFilter[index] !== fingerprint) {
      scope.admissionFilter[index] = fingerprint;
      return false;
    }
    return this.#evict(isFull ? scope : this.#findLargestScope());
  }

  #findLargestScope(): Scope | undefined {
    let largest: Scope | undefined;
    for (const scope of this.#scopes.values())
      if (largest === undefined || scope.patterns > largest.patterns) largest = scope;
    return largest;
  }

  #evict(scope: Scope | undefined): boolean {
    if (scope === undefined) return false;
    let coldest: Pattern | undefined;
    for (const bucket of scope.buckets.values())
      for (const pattern of bucket)
        if (coldest === undefined || retentionScore(pattern, scope.bodies) < retentionScore(coldest, scope.bodies))
          coldest = pattern;
    if (coldest === undefined) return false;
    const bucket = scope.buckets.get(coldest.structure) as Pattern[];
    bucket.splice(bucket.indexOf(coldest), 1);
    if (bucket.length === 0) scope.buckets.delete(coldest.structure);
    if (coldest.isWide) this.#updateWidePatterns(scope, coldest.structure);
    coldest.isEvicted = true;
    scope.shapes.delete(coldest.shape);
    scope.patterns--;
    this.#total--;
    this.#evicted++;
    return true;
  }
}
