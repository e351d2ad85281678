/**
 * Cost accounting of rules, so that a slow rule is disabled. The unit is scanned characters, so equal input always has
 * an equal result.
 */
import { z } from 'zod';
import type { StateDefinition } from '../engine/definition.ts';

/** Number of records after which the count restarts. */
const perRecords = 5_000;
/** Maximum number of characters a rule may scan within that count: about half a second of CPU. */
const maxCharacters = 200_000_000;
/** Maximum number of disabled rules that are remembered. */
const maxDisabled = 10_000;

const Saved = z.strictObject({
  records: z.int(),
  spent: z.array(z.tuple([z.string(), z.number()])),
  off: z.array(z.string()),
});

const nameOf = (ruleId: string, version: number): string => `${version} ${ruleId}`;

export class CostBudget {
  #records = 0;
  readonly #spent = new Map<string, number>();
  /** Versions of rules that are disabled. A new version is evaluated again. */
  readonly #off = new Set<string>();
  #news: { ruleId: string; version: number }[] = [];

  isOff(ruleId: string, version: number): boolean {
    return this.#off.size > 0 && this.#off.has(nameOf(ruleId, version));
  }

  spent(ruleId: string, version: number, characters: number): void {
    const name = nameOf(ruleId, version);
    const sum = (this.#spent.get(name) ?? 0) + characters;
    this.#spent.set(name, sum);
    if (sum <= maxCharacters) return;
    this.#off.add(name);
    if (this.#off.size > maxDisabled) this.#off.delete(this.#off.values().next().value ?? '');
    this.#news.push({ ruleId, version });
  }

  /** Counts a record. Returns the rules that it disabled. */
  record(): readonly { readonly ruleId: string; readonly version: number }[] {
    if (++this.#records >= perRecords) {
      this.#records = 0;
      this.#spent.clear();
    }
    if (this.#news.length === 0) return [];
    const news = this.#news;
    this.#news = [];
    return news;
  }

  get entries(): number {
    return this.#spent.size + this.#off.size;
  }

  save(): Uint8Array {
    const saved = { records: this.#records, spent: [...this.#spent], off: [...this.#off] };
    return Buffer.from(JSON.stringify(saved satisfies z.input<typeof Saved>));
  }

  static restored(bytes: Uint8Array): CostBudget {
    const { records, spent, off } = Saved.parse(JSON.parse(Buffer.from(bytes).toString()));
    const costBudget = new CostBudget();
    costBudget.#records = records;
    for (const [name, sum] of spent) costBudget.#spent.set(name, sum);
    for (const name of off) costBudget.#off.add(name);
    return costBudget;
  }
}

const entryBytes = 150;

export const costBudgetState: StateDefinition<CostBudget> = {
  version: 1,
  open: (saved) => (saved === undefined ? new CostBudget() : CostBudget.restored(saved)),
  save: (state) => state.save(),
  size: ({ entries }) => ({ entries, bytes: entries * entryBytes, evicted: 0 }),
};
