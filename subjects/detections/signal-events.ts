/** Converts stored security signals to events of the feed. They are read from the store, so that each occurs once. */

import { formatTime } from '../../queries/time.ts';
import type { FeedEvent } from '../events/events.ts';
import { parseEvents, type StoredSignal } from './stored-signals.ts';

const severities = {
  informational: 'info',
  low: 'info',
  medium: 'warning',
  high: 'error',
  critical: 'critical',
} as const satisfies Record<StoredSignal['severity'], FeedEvent['severity']>;

const joinValues = (values: readonly string[]): string => values.join(', ').slice(0, 512);

/** Returns entities by type: `user` is `ann`, or `ann, bob`. */
const groupEntitiesByType = (entities: readonly string[]): Record<string, string> => {
  const parseType = (entity: string): string => entity.slice(0, entity.indexOf(' '));
  const parseValue = (entity: string): string => entity.slice(entity.indexOf(' ') + 1);
  return Object.fromEntries(
    [...Map.groupBy(entities, parseType)].map(
      ([name, typeEntities]) => [name, joinValues(typeEntities.map(parseValue))] as const,
    ),
  );
};

/** Converts a signal to an event. Alerts are routed by its tags: rule, severity, tactic and entities. */
export const toSignalEvent = (signal: StoredSignal): FeedEvent => {
  const { id, ms, severity, tactics, techniques, entities } = signal;
  return {
    id,
    kind: 'signal',
    severity: severities[severity],
    projectId: signal.project,
    environment: '',
    link: '',
    time: formatTime(BigInt(ms) * 1_000_000n),
    title: signal.rule_title.slice(0, 256),
    text: entities.length === 0 ? '' : `Entities: ${entities.join(', ')}`.slice(0, 8192),
    service: parseEvents(signal)[0]?.service ?? '',
    tags: {
      ruleId: signal.rule_id,
      severity,
      ...(tactics.length > 0 && { tactic: joinValues(tactics) }),
      ...groupEntitiesByType(entities),
    },
    actor: { type: 'system', id: 'detections' },
    details: {
      ruleId: signal.rule_id,
      ruleVersion: signal.rule_version,
      riskScore: signal.risk_score,
      techniques,
      eventCount: signal.event_count,
      entities,
    },
  };
};
