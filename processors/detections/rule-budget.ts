/**
 * Cost accounting of rules, so that a slow rule is disabled. The unit is scanned characters, so equal input always has
 * an equal result.
 */
import { z } from 'zod';
import type { StateDefinition } from '../engine/definition.ts';

/** Number of records after which the count restarts. */
const windowRecords = 5_000;
/** Maximum number of characters a rule may scan within that count: about half a second of CPU. */
const maxCharacters = 200_000_000;
/** Maximum number of disabled rules that are remembered. */
const maxDisabled = 10_000;

const Saved = z.strictObject({
  records: z.int(),
  spent: z.array(z.tuple([z.string(), z.number()])),
  off: z.array(z.string()),
});

const ruleVersionKey = (ruleId: string, version: number): string => `${version} ${ruleId}`;

export class CostBudget {
  #records = 0;
  readonly #scannedCharacters = new Map<string, number>();
  /** Versions of rules that are disabled. A new version is evaluated again. */
  readonly #disabled = new Set<string>();
  #newlyDisabled: { ruleId: string; version: number }[] = [];

  isDisabled(ruleId: string, version: number): boolean {
    return this.#disabled.size > 0 && this.#disabled.has(ruleVersionKey(ruleId, version));
  }

  addCost(ruleId: string, version: number, characters: number): void {
    const name = ruleVersionKey(ruleId, version);
    // Whole numbers, so that the sum does not depend on the order of records.
    const sum = (this.#scannedCharacters.get(name) ?? 0) + Math.ceil(characters);
    this.#scannedCharacters.set(name, sum);
    if (sum <= maxCharacters) return;
    this.#disabled.add(name);
    if (this.#disabled.size > maxDisabled) this.#disabled.delete(this.#disabled.values().next().value ?? '');
    this.#newlyDisabled.push({ ruleId, version });
  }

  /** Counts a record. Returns the rules that it disabled. */
  countRecord(): readonly { readonly ruleId: string; readonly version: number }[] {
    if (++this.#records >= windowRecords) {
      this.#records = 0;
      this.#scannedCharacters.clear();
    }
    if (this.#newlyDisabled.length === 0) return [];
    const newlyDisabled = this.#newlyDisabled;
    this.#newlyDisabled = [];
    return newlyDisabled;
  }

  get entries(): number {
    return this.#scannedCharacters.size + this.#disabled.size;
  }

  save(): Uint8Array {
    const saved = { records: this.#records, spent: [...this.#scannedCharacters], off: [...this.#disabled] };
    return Buffer.from(JSON.stringify(saved satisfies z.input<typeof Saved>));
  }

  static restore(bytes: Uint8Array): CostBudget {
    const { records, spent, off } = Saved.parse(JSON.parse(Buffer.from(bytes).toString()));
    const costBudget = new CostBudget();
    costBudget.#records = records;
    for (const [name, sum] of spent) costBudget.#scannedCharacters.set(name, sum);
    for (const name of off) costBudget.#disabled.add(name);
    return costBudget;
  }
}

const entryBytes = 150;

export const costBudgetState: StateDefinition<CostBudget> = {
  version: 1,
  open: (saved) => (saved === undefined ? new CostBudget() : CostBudget.restore(saved)),
  save: (state) => state.save(),
  size: ({ entries }) => ({ entries, bytes: entries * entryBytes, evicted: 0 }),
};
