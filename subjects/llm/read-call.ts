/** Reads a call of a model from a span, by the tables of `conventions.ts`. */
import { type Fields, toFields } from '../../runtime/fields.ts';
import type { LlmCall } from '../../schemas/llm-calls.ts';
import { truncateText } from '../../schemas/text.ts';
import { findFirstTablePrice } from './built-in-prices.ts';
import {
  attributeNames,
  contentNames,
  costDetailsName,
  costNames,
  firstTokenNames,
  type LlmConvention,
  operations,
  providers,
  roleRules,
  type SentToken,
  type SpanRole,
  streamedOperations,
  tokenNames,
  usageDetailKeys,
  usageDetailsName,
} from './conventions.ts';
import { formatDecimal, parseDecimal } from './decimals.ts';
import { computeCost } from './prices.ts';
import { parseTokenCount, resolveUsage, type SentTokens, type Usage } from './usage.ts';

/** Values of a span from which a call is read. */
export interface CallSource {
  /** Attributes of the span as text, and those of its resource. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly resourceAttributes: ReadonlyMap<string, string>;
  readonly projectId: string;
  readonly service: string;
  readonly scopeName: string;
  readonly scopeVersion: string;
  readonly statusCode: number;
  readonly timeNs: bigint;
  readonly durationNs: number;
}

/** Attributes whose presence marks a span about models. */
export const markingNames: readonly string[] = roleRules.map(({ attribute }) => attribute);

const maxNameLength = 256;
const maxAttributes = 64;
const maxAttributeLength = 256;

const errorStatus = 2;

/** Role of a span, and the convention that it follows. */
export interface FoundRole {
  readonly role: SpanRole;
  readonly convention: LlmConvention;
}

/** Returns the role of a span about models; undefined for any other span. */
export const findRole = ({
  attributes,
  scopeName,
}: Pick<CallSource, 'attributes' | 'scopeName'>): FoundRole | undefined => {
  for (const { attribute, convention, roles } of roleRules) {
    const value = attributes.get(attribute);
    if (value === undefined) continue;
    const role = roles[value.toLowerCase()] ?? roles['*'];
    if (role === undefined) continue;
    return { role, convention: scopeName === 'agentsight' ? 'agentsight' : convention };
  }
  return undefined;
};

const readFirst = (attributes: CallSource['attributes'], names: readonly string[]): string => {
  for (const name of names) {
    const value = attributes.get(name);
    if (value !== undefined && value !== '') return truncateText(value, maxNameLength);
  }
  return '';
};

/** Returns the provider under the name of the conventions. */
export const normalizeProvider = (text: string): string => {
  const name = text.toLowerCase();
  const known = providers[name];
  if (known !== undefined) return known;
  const [first = ''] = name.split('.');
  return (
    providers[first] ?? (name.includes('.') && !name.startsWith('gcp.') && !name.startsWith('azure.') ? first : name)
  );
};

const parseJsonObject = (text: string | undefined): Fields => {
  if (text === undefined) return {};
  try {
    return toFields(JSON.parse(text));
  } catch {
    return {};
  }
};

interface ReadTokens {
  readonly sent: SentTokens;
  readonly invalidName: string;
}

const readTokens = (attributes: CallSource['attributes']): ReadTokens => {
  const sent: SentTokens = {};
  let invalidName = '';
  const add = (name: string, key: SentToken, text: string): void => {
    const count = parseTokenCount(text);
    if (count === undefined) invalidName ||= name;
    else sent[key] ??= count;
  };
  for (const [key, names] of Object.entries(tokenNames) as [SentToken, readonly string[]][]) {
    for (const name of names) {
      const text = attributes.get(name);
      if (text === undefined) continue;
      add(name, key, text);
      break;
    }
  }
  for (const [name, value] of Object.entries(parseJsonObject(attributes.get(usageDetailsName)))) {
    const key = usageDetailKeys[name];
    if (key !== undefined) add(`${usageDetailsName}.${name}`, key, String(value));
  }
  return { sent, invalidName };
};

const readTimeToFirstToken = (source: CallSource): number => {
  for (const [name, nanoseconds] of firstTokenNames) {
    const time = Number(source.attributes.get(name) ?? Number.NaN);
    if (time > 0 && time * nanoseconds <= source.durationNs * 1.01) return Math.round(time * nanoseconds);
  }
  const startText = source.attributes.get('langfuse.observation.completion_start_time');
  if (startText === undefined) return 0;
  const startMs = Date.parse(startText.replaceAll('"', ''));
  const nanoseconds = Number(BigInt(Number.isNaN(startMs) ? 0 : startMs) * 1_000_000n - source.timeNs);
  return nanoseconds > 0 && nanoseconds <= source.durationNs ? nanoseconds : 0;
};

const readReportedCost = (attributes: CallSource['attributes']): string => {
  const details = parseJsonObject(attributes.get(costDetailsName));
  const text = readFirst(attributes, costNames) || (details['total'] === undefined ? '' : String(details['total']));
  const cost = Number(text);
  return text === '' || !Number.isFinite(cost) || cost < 0 || cost > 1e12
    ? ''
    : formatDecimal(parseDecimal(cost.toFixed(12)));
};

const readFinishReasons = (attributes: CallSource['attributes']): string[] => {
  const text = readFirst(attributes, attributeNames.finishReasons);
  if (!text.startsWith('[')) return text === '' ? [] : [text];
  try {
    return (JSON.parse(text) as unknown[]).slice(0, 8).map((reason) => truncateText(String(reason), 64));
  } catch {
    return [];
  }
};

const isContent = (name: string): boolean =>
  contentNames.some((content) => (content.endsWith('.') ? name.startsWith(content) : name === content));

/** Attributes of resources that are copied to calls, so that calls can be grouped by them. */
const copiedResourceNames = [
  ...['service.version', 'service.namespace', 'service.instance.id', 'k8s.namespace.name', 'k8s.pod.name'],
  ...['k8s.cluster.name', 'host.name', 'cloud.region', 'telemetry.sdk.language'],
];

const copyAttributes = ({ attributes, resourceAttributes }: CallSource): Record<string, string> => {
  const copied: Record<string, string> = {};
  let count = 0;
  for (const name of copiedResourceNames) {
    const value = resourceAttributes.get(name);
    if (value !== undefined) copied[name] = truncateText(value, maxAttributeLength);
  }
  for (const [name, value] of attributes) {
    if (name.length > maxNameLength || value.length > maxAttributeLength || isContent(name)) continue;
    if (++count > maxAttributes) break;
    copied[name] = value;
  }
  return copied;
};

const formatInterpretation = ({ interpretation }: Usage): string =>
  interpretation === undefined ? '' : JSON.stringify(interpretation);

interface Pricing {
  readonly cost: string;
  readonly currency: string;
  readonly priceProblem: string;
}

const priceCall = (
  provider: string,
  models: readonly string[],
  timeMs: number,
  { tokens, problem }: Usage,
): Pricing => {
  if (problem !== '') return { cost: '', currency: '', priceProblem: problem };
  const found = findFirstTablePrice(provider, models, timeMs);
  if ('problem' in found) return { cost: '', currency: '', priceProblem: found.problem };
  return { cost: formatDecimal(computeCost(tokens, found.price)), currency: found.price.currency, priceProblem: '' };
};

/** Reads a call, or a container with tokens of its own. */
export const readCall = (source: CallSource, { role, convention }: FoundRole): LlmCall => {
  const { attributes, resourceAttributes } = source;
  const read = (names: readonly string[]): string => readFirst(attributes, names);
  const provider = normalizeProvider(read(attributeNames.provider));
  const requestModel = read(attributeNames.requestModel);
  const model = read(attributeNames.responseModel) || requestModel;
  const kindText = (
    read(attributeNames.operation) || read(roleRules.map(({ attribute }) => attribute).slice(1, 3))
  ).toLowerCase();
  const operation = operations[kindText] ?? kindText;
  const errorType = read(attributeNames.errorType);
  const isFailed = source.statusCode === errorStatus || errorType !== '';
  const { sent, invalidName } = readTokens(attributes);
  const usage = resolveUsage(
    sent,
    { scopeName: source.scopeName, scopeVersion: source.scopeVersion, provider, operation, isFailed },
    invalidName,
  );
  const timeToFirstTokenNs = readTimeToFirstToken(source);
  const timeMs = Number(source.timeNs / 1_000_000n);
  const pricing =
    role === 'call'
      ? priceCall(provider, [model, requestModel], timeMs, usage)
      : { cost: '', currency: '', priceProblem: 'tokens of containers are not added to totals' };
  return {
    projectId: source.projectId,
    kind: role,
    service: source.service,
    environment:
      resourceAttributes.get('deployment.environment.name') ?? resourceAttributes.get('deployment.environment') ?? '',
    operation: operation === '' ? 'chat' : operation,
    provider,
    model,
    requestModel,
    responseId: read(attributeNames.responseId),
    conversationId: read(attributeNames.conversationId),
    agent: read(attributeNames.agent),
    prompt: read(attributeNames.prompt),
    promptVersion: read(attributeNames.promptVersion),
    userId: read(attributeNames.userId),
    durationNs: source.durationNs,
    timeToFirstTokenNs,
    isStreamed:
      timeToFirstTokenNs > 0 || streamedOperations.has(kindText) || read(attributeNames.isStreamed) === 'true',
    isFailed,
    errorType: errorType || (isFailed ? 'unknown' : ''),
    finishReasons: readFinishReasons(attributes),
    tokens: usage.tokens,
    usageProblem: usage.problem,
    interpretation: formatInterpretation(usage),
    ...pricing,
    reportedCost: readReportedCost(attributes),
    convention,
    scopeName: truncateText(source.scopeName, maxNameLength),
    scopeVersion: truncateText(source.scopeVersion, 64),
    attributes: copyAttributes(source),
  };
};

/** Returns whether a call has tokens. */
export const hasUsage = ({ tokens }: Pick<LlmCall, 'tokens'>): boolean =>
  Object.values(tokens).some((count) => count > 0);

/** Returns how complete a call is, to select one of several that report the same response. */
export const measureCompleteness = (call: LlmCall): number =>
  (hasUsage(call) ? 1_000 : 0) +
  (call.usageProblem === '' ? 500 : 0) +
  20 * Object.values(call.tokens).filter((count) => count > 0).length +
  [call.model, call.provider, call.conversationId, call.userId, call.agent, call.prompt].filter((text) => text !== '')
    .length;

/** Returns the names of a model by which nested spans are compared: lowercase, without a provider before a slash. */
export const normalizeModels = ({ model, requestModel }: Pick<LlmCall, 'model' | 'requestModel'>): string[] =>
  [...new Set([model, requestModel])]
    .filter((name) => name !== '')
    .map((name) =>
      name
        .toLowerCase()
        .replace(/^.*\//, '')
        .replace(/-\d{4}-\d{2}-\d{2}$|-\d{8}$/, ''),
    );
