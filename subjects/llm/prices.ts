/** Cost of tokens by the rates of a price. */
import { inputKinds, type TokenCounts, type TokenKind, tokenKinds } from '../../schemas/llm-calls.ts';

/** Prices of a million tokens of each kind, in the order of `tokenKinds`, as integers of 10^-12. */
export type RateList = readonly bigint[];

/** Rates of calls with more than `above` input tokens, cached ones included. */
export interface RateTier {
  readonly above: number;
  readonly rates: RateList;
}

/** Rates from the lowest tier on, and the price of a call in units of 10^-18. */
export interface Price {
  readonly tiers: readonly RateTier[];
  readonly perCall: bigint;
  readonly currency: string;
}

/** A kind without a price has the price of the next kind that is named here. */
export const broaderKinds: Readonly<Partial<Record<TokenKind, TokenKind>>> = {
  cacheRead: 'input',
  cacheWrite: 'input',
  cacheWrite1h: 'cacheWrite',
  inputAudio: 'input',
  inputImage: 'input',
  reasoning: 'output',
  outputAudio: 'output',
  outputImage: 'output',
};

/** Returns the rates of all kinds; `getRate` returns undefined for kinds without a price. */
export const completeRates = (getRate: (kind: TokenKind) => bigint | undefined): RateList => {
  const findRate = (kind: TokenKind): bigint => {
    const broader = broaderKinds[kind];
    return getRate(kind) ?? (broader === undefined ? 0n : findRate(broader));
  };
  return tokenKinds.map(findRate);
};

/** Returns all input tokens, cached ones included. */
export const countInput = (tokens: TokenCounts): number => inputKinds.reduce((sum, kind) => sum + tokens[kind], 0);

/** Returns the cost of a call in units of 10^-18. */
export const computeCost = (tokens: TokenCounts, price: Price): bigint =>
  computeCostOfCalls(tokens, { price, calls: 1n, input: countInput(tokens) });

/** Returns the cost of calls of one tier. `input` is a number of input tokens of that tier. */
export const computeCostOfCalls = (
  tokens: Readonly<Record<TokenKind, number | bigint>>,
  {
    price: { tiers, perCall },
    calls,
    input,
  }: { readonly price: Price; readonly calls: bigint; readonly input: number },
): bigint => {
  const tier = tiers.findLast(({ above }) => input > above) ?? tiers[0];
  return tokenKinds.reduce(
    (sum, kind, index) => sum + BigInt(tokens[kind]) * (tier?.rates[index] ?? 0n),
    perCall * calls,
  );
};
