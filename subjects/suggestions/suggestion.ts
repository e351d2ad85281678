/** A suggestion for an organization with its reason, its effect, and the request that implements it */
import { computeHashId } from '../../runtime/hash-of.ts';

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
   * Request that implements the suggestion; `null` if the platform cannot do it, in which case `effect` names the place
   */
  readonly request: SuggestedRequest | null;
  /** Size of the evidence, in any unit; it has changed if it is less than half or more than twice the former value */
  readonly weight: number;
}

/** Returns the id of a suggestion, derived from the organization, the subject and the request. */
export const suggestionId = (tenantId: string, { kind, subject, request }: Suggestion): string => {
  const content = computeHashId('suggestion', tenantId, kind, subject, request).slice(0, 24);
  return content + idChecksum(tenantId, content);
};

const idChecksum = (tenantId: string, content: string): string =>
  computeHashId('suggestion-check', tenantId, content).slice(0, 8);

/** Returns whether an id may belong to a current or former suggestion of this organization. */
export const isSuggestionId = (tenantId: string, id: string): boolean =>
  id.length === 32 && id.slice(24) === idChecksum(tenantId, id.slice(0, 24));

/** Returns whether the evidence is unchanged since the suggestion was dismissed. */
export const isEvidenceUnchanged = (weight: number, before: number): boolean =>
  weight <= 2 * before && before <= 2 * weight;
