/** A suggestion for an organization with its reason, its effect, and the request that implements it */
import { computeHashId } from '../../runtime/hash-id.ts';

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
  /** Subject: a service, the id of a rule, the name of a metric … */
  readonly subject: string;
  readonly title: string;
  readonly evidence: string;
  readonly effect: string;
  /**
   * Request that implements the suggestion; `null` if the platform cannot do it. In this case, `effect` states where
   * to make the change
   */
  readonly request: SuggestedRequest | null;
  /**
   * Strength of the evidence, such as a number of series. The evidence has changed if this value more than doubled
   * or fell below half
   */
  readonly weight: number;
}

/** Returns the id of a suggestion, derived from the organization, the subject and the request. */
export const createSuggestionId = (tenantId: string, { kind, subject, request }: Suggestion): string => {
  const content = computeHashId('suggestion', tenantId, kind, subject, request).slice(0, 24);
  return content + computeIdChecksum(tenantId, content);
};

const computeIdChecksum = (tenantId: string, content: string): string =>
  computeHashId('suggestion-check', tenantId, content).slice(0, 8);

/** Returns whether an id may belong to a current or former suggestion of this organization. */
export const isSuggestionId = (tenantId: string, id: string): boolean =>
  id.length === 32 && id.slice(24) === computeIdChecksum(tenantId, id.slice(0, 24));

/** Returns whether the evidence is unchanged since the suggestion was dismissed. */
export const isEvidenceUnchanged = (weight: number, previousWeight: number): boolean =>
  weight <= 2 * previousWeight && previousWeight <= 2 * weight;
