/** Something that an organization could do, with why, what it would change, and the request that does it. */
import { hashOf } from '../../runtime/hash-of.ts';

export const suggestionKinds = [
  'slo',
  'alert',
  'noisy-rule',
  'unread-metric',
  'unread-attribute',
  'log-pattern',
  'detector',
  'dashboard',
] as const;
export type SuggestionKind = (typeof suggestionKinds)[number];

export interface SuggestedRequest {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Suggestion {
  readonly kind: SuggestionKind;
  /** What it is about: a service, the id of a rule, the name of a metric … */
  readonly subject: string;
  readonly title: string;
  readonly evidence: string;
  readonly effect: string;
  /** null: nothing that this platform can do does it; `effect` says where it is done. */
  readonly request: SuggestedRequest | null;
  /** How much is behind it, in any unit: it counts as changed when it is half or twice what it was. */
  readonly weight: number;
}

/** What a caller knows it by: it follows from the organization, the subject and the request. */
export const suggestionId = (tenantId: string, { kind, subject, request }: Suggestion): string => {
  const content = hashOf('suggestion', tenantId, kind, subject, request).slice(0, 24);
  return content + checkOf(tenantId, content);
};

const checkOf = (tenantId: string, content: string): string =>
  hashOf('suggestion-check', tenantId, content).slice(0, 8);

/** Whether it may have been the id of a suggestion of this organization, now or before. */
export const isSuggestionId = (tenantId: string, id: string): boolean =>
  id.length === 32 && id.slice(24) === checkOf(tenantId, id.slice(0, 24));

/** Whether the evidence is still what it was when somebody said no. */
export const isAlike = (weight: number, before: number): boolean => weight <= 2 * before && before <= 2 * weight;
