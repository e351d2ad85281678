import { type Known, known, sumOf, unknown } from '../../../queries/ledger/unknown.ts';
import type { Price } from '../../../schemas/resources/plan.ts';
import { type Signal, signals } from '../../../schemas/topics.ts';

const gigabyte = 1e9;

/** What volume of a month costs, by signal and in all. What has no price is not known, unless there is nothing of it. */
export interface Cost {
  readonly signals: Readonly<Record<Signal, Known>>;
  readonly total: Known;
}

const rounded = (amount: number): number => Math.round(amount * 100) / 100;

const costOfSignal = (price: Price | null, signal: Signal, bytes: Known): Known => {
  if (price === null) return unknown('the plan has no price');
  if (bytes.value === null) return bytes;
  const billed = bytes.value / gigabyte - (price.includedGigabytes?.[signal] ?? 0);
  if (billed <= 0) return known(0);
  const each = price.perGigabyte[signal];
  return each === null ? unknown(`${signal} have no price on this plan`) : known(rounded(billed * each));
};

export const costOf = (price: Price | null, bytes: Readonly<Record<Signal, Known>>): Cost => {
  const of = (signal: Signal): Known => costOfSignal(price, signal, bytes[signal]);
  const bySignal = { logs: of('logs'), metrics: of('metrics'), traces: of('traces') };
  const sum = sumOf([...signals.map((signal) => bySignal[signal]), known(price?.perMonth ?? 0)]);
  return { signals: bySignal, total: sum.value === null ? sum : known(rounded(sum.value)) };
};
