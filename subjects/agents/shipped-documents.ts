/** Shipped detection rules as stored documents, so that the detection engine treats them as rules of an organization. */
import { type SignalSeverity, signalSeverities } from '../../schemas/signals.ts';
import { parseDocument, type StoredRule } from '../detections/deployment.ts';
import type { SigmaDocument } from '../detections/documents.ts';
import { type ShippedRule, shippedRules } from './shipped-rules.ts';
import { agentLogSource } from './sigma-event.ts';

const riskScores: Readonly<Record<SignalSeverity, number>> = {
  informational: 5,
  low: 20,
  medium: 45,
  high: 75,
  critical: 95,
};

const parseShipped = ({ source }: ShippedRule): SigmaDocument => {
  const document = parseDocument(source);
  if (typeof document === 'string') throw new Error(`a shipped rule cannot be parsed: ${document}\n${source}`);
  return document;
};

/** Beginning of time, so that equal releases have equal documents. */
const releasedAt = '2026-01-01T00:00:00.000Z';

const toStoredRule = (shipped: ShippedRule): StoredRule => {
  const document = parseShipped(shipped);
  const severity = document.level ?? signalSeverities[0];
  return {
    id: document.id,
    version: 1,
    createdAt: releasedAt,
    updatedAt: releasedAt,
    kind: document.kind,
    title: document.title,
    source: shipped.source,
    enabled: true,
    severity,
    riskScore: riskScores[severity],
    suppression: shipped.suppression,
    exceptions: [],
    anySource: false,
  };
};

let documents: readonly StoredRule[] | undefined;

/** Returns the shipped rules. They are parsed at the first call. */
export const getShippedDocuments = (): readonly StoredRule[] => {
  documents ??= shippedRules.map(toStoredRule);
  return documents;
};

/** Returns whether a document is a rule for events of agents. */
export const isAgentRule = (source: string): boolean => {
  const document = parseDocument(source);
  return typeof document !== 'string' && document.kind === 'rule' && document.logsource.product === agentLogSource;
};
