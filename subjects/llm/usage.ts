/** Turns the numbers of tokens that a sender reports into kinds that exclude each other. */
import { maxTokens, noTokens, type TokenCounts } from '../../schemas/llm-calls.ts';
import { type SentToken, usageRules } from './conventions.ts';

/** Numbers as a sender reports them, by their meaning. */
export type SentTokens = Partial<Record<SentToken, number>>;

/** How numbers were read, and the reason. */
export interface Interpretation {
  readonly isInputWithoutCache: boolean;
  readonly isOutputWithoutReasoning: boolean;
  readonly inputReason: string;
  readonly outputReason: string;
}

export interface Usage {
  readonly tokens: TokenCounts;
  /** Why the tokens are unknown or incomplete; empty if they are known. */
  readonly problem: string;
  readonly interpretation: Interpretation | undefined;
}

/** Sender of a call, which decides the meaning of its numbers. */
export interface UsageSource {
  readonly scopeName: string;
  readonly scopeVersion: string;
  readonly provider: string;
  readonly operation: string;
  readonly isFailed: boolean;
}

/** Parses a number of tokens; undefined if it is not an integer from 0 to `maxTokens`. */
export const parseTokenCount = (text: string): number | undefined => {
  if (!/^\d{1,15}(?:\.0{1,15})?$/.test(text)) return undefined;
  const count = Number(text);
  return count <= maxTokens ? count : undefined;
};

/** Returns whether a version is lower than another; false if it is not a version. */
const isBefore = (version: string, limit: string): boolean => {
  const parts = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version)?.slice(1).map(Number);
  if (parts === undefined) return false;
  for (const [index, limitPart] of limit.split('.').map(Number).entries()) {
    const part = parts[index] || 0;
    if (part !== limitPart) return part < limitPart;
  }
  return false;
};

const findRule = (
  sent: SentTokens,
  { scopeName, scopeVersion, provider }: UsageSource,
  member: 'isInputWithoutCache' | 'isOutputWithoutReasoning',
) =>
  usageRules.find(
    (rule) =>
      rule[member] === true &&
      rule.scope.test(scopeName) &&
      (rule.before === undefined || isBefore(scopeVersion, rule.before)) &&
      (rule.provider?.test(provider) ?? true) &&
      (rule.without ?? []).every((name) => sent[name] === undefined),
  );

interface Verdict {
  readonly isWithout: boolean;
  readonly reason: string;
}

const conventionReason = 'as the conventions define';

const judgeInput = (sent: SentTokens, cached: number, source: UsageSource): Verdict => {
  const { input = 0, output = 0, reasoning = 0, total, uncachedInput } = sent;
  if (cached === 0) return { isWithout: false, reason: 'no cached tokens' };
  if (cached > input) return { isWithout: true, reason: 'cached tokens exceed input' };
  if (uncachedInput !== undefined && uncachedInput + cached === input)
    return { isWithout: false, reason: 'uncached and cached tokens add up to input' };
  if (total !== undefined) {
    const difference = total - input - output;
    if (difference === cached || (reasoning > 0 && difference === cached + reasoning))
      return { isWithout: true, reason: 'the total contains cached tokens beside input' };
    if (difference === 0 || difference === reasoning)
      return { isWithout: false, reason: 'the total contains no cached tokens beside input' };
  }
  const rule = findRule(sent, source, 'isInputWithoutCache');
  return rule === undefined ? { isWithout: false, reason: conventionReason } : { isWithout: true, reason: rule.reason };
};

const judgeOutput = (sent: SentTokens, cached: number, source: UsageSource): Verdict => {
  const { input = 0, output = 0, reasoning = 0, total, textOutput } = sent;
  if (reasoning === 0) return { isWithout: false, reason: 'no reasoning tokens' };
  if (reasoning > output) return { isWithout: true, reason: 'reasoning tokens exceed output' };
  if (textOutput !== undefined && textOutput + reasoning === output)
    return { isWithout: false, reason: 'text and reasoning tokens add up to output' };
  if (total !== undefined) {
    const difference = total - input - output;
    if (difference === reasoning || (cached > 0 && difference === cached + reasoning))
      return { isWithout: true, reason: 'the total contains reasoning tokens beside output' };
    if (difference === 0 || difference === cached)
      return { isWithout: false, reason: 'the total contains no reasoning tokens beside output' };
  }
  const rule = findRule(sent, source, 'isOutputWithoutReasoning');
  return rule === undefined ? { isWithout: false, reason: conventionReason } : { isWithout: true, reason: rule.reason };
};

/** Takes at most `available` of a part, so that parts never exceed their whole. */
const takePart = (part: number, available: number): number => Math.min(part, Math.max(0, available));

const operationsWithoutOutput = new Set(['embeddings', 'rerank']);

/** Splits a whole into audio, images and the rest. */
const splitModalities = (
  whole: number,
  audio = 0,
  image = 0,
): { readonly rest: number; readonly audio: number; readonly image: number } => {
  const audioPart = takePart(audio, whole);
  const imagePart = takePart(image, whole - audioPart);
  return { rest: whole - audioPart - imagePart, audio: audioPart, image: imagePart };
};

/** Returns the missing number without which the usage is incomplete; empty if there is none. */
const findMissing = ({ input, output }: SentTokens, { isFailed, operation }: UsageSource): string => {
  if (input === undefined) return 'input';
  return output === undefined && !isFailed && !operationsWithoutOutput.has(operation) ? 'output' : '';
};

const createUnknownUsage = (problem: string): Usage => ({ tokens: noTokens, problem, interpretation: undefined });

/** Returns the tokens of a call by kind. `invalidName` is an attribute with an invalid number. */
export const resolveUsage = (sent: SentTokens, source: UsageSource, invalidName = ''): Usage => {
  if (invalidName !== '') return createUnknownUsage(`${invalidName} is not an integer from 0 to ${maxTokens}`);
  if (sent.input === undefined && sent.output === undefined) return createUnknownUsage('the sender reported no tokens');
  const {
    input = 0,
    output = 0,
    cacheRead = 0,
    cacheWrite = 0,
    cacheWrite5m = 0,
    cacheWrite1h = 0,
    reasoning = 0,
  } = sent;
  const allCacheWrite = Math.max(cacheWrite, cacheWrite5m + cacheWrite1h);
  const cached = cacheRead + allCacheWrite;
  const inputVerdict = judgeInput(sent, cached, source);
  const outputVerdict = judgeOutput(sent, cached, source);
  const inputParts = splitModalities(input - (inputVerdict.isWithout ? 0 : cached), sent.inputAudio, sent.inputImage);
  const outputParts = splitModalities(
    output - (outputVerdict.isWithout ? 0 : reasoning),
    sent.outputAudio,
    sent.outputImage,
  );
  const missing = findMissing(sent, source);
  return {
    tokens: {
      input: inputParts.rest,
      cacheRead,
      cacheWrite: allCacheWrite - cacheWrite1h,
      cacheWrite1h,
      inputAudio: inputParts.audio,
      inputImage: inputParts.image,
      output: outputParts.rest,
      reasoning,
      outputAudio: outputParts.audio,
      outputImage: outputParts.image,
    },
    problem: missing === '' ? '' : `the sender reported no ${missing} tokens`,
    interpretation: {
      isInputWithoutCache: inputVerdict.isWithout,
      isOutputWithoutReasoning: outputVerdict.isWithout,
      inputReason: inputVerdict.reason,
      outputReason: outputVerdict.reason,
    },
  };
};
