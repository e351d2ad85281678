/** Suggests incidents to merge: they are open at the same time, and their services are the same or call each other */
import { z } from 'zod';
import { alertSeverities } from '../../schemas/alerts.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import type { ServiceCalls } from '../services/calls.ts';

export const MergeSuggestion = z.strictObject({
  incidentId: z.string(),
  title: z.string(),
  severity: z.enum(alertSeverities),
  openedAt: z.iso.datetime(),
  services: z.array(z.string()).describe('Services that both incidents affect'),
  calls: z
    .array(z.strictObject({ client: z.string(), server: z.string(), requests: z.int(), errors: z.int() }))
    .describe(
      'Calls from services of one incident to services of the other, around the time when the later one was opened',
    ),
});
export type MergeSuggestion = z.output<typeof MergeSuggestion>;

/** Maximum time between the openings of suggested incidents, in milliseconds */
export const mergeableWithinMs = 3_600_000;

type StoredIncident = Incident & StoredMetadata;

/**
 * Returns open incidents that were opened at nearly the same time; empty if the incident has ended or names no service.
 */
export const findMergeable = (incident: StoredIncident, others: readonly StoredIncident[]): StoredIncident[] => {
  const isOngoing = ({ status }: StoredIncident): boolean => status === 'open' || status === 'acknowledged';
  if (!isOngoing(incident) || incident.services.length === 0) return [];
  const getDistanceMs = ({ openedAt }: StoredIncident): number =>
    Math.abs(Date.parse(openedAt) - Date.parse(incident.openedAt));
  return others.filter(
    (other) => other.id !== incident.id && isOngoing(other) && getDistanceMs(other) <= mergeableWithinMs,
  );
};

/** Returns suggestions with their evidence, ordered by the number of failing calls, then by shared services. */
export const suggestMerges = (
  incident: StoredIncident,
  others: readonly StoredIncident[],
  calls: readonly ServiceCalls[],
): MergeSuggestion[] => {
  const ownServices = new Set(incident.services);
  return findMergeable(incident, others)
    .map(({ id, title, severity, openedAt, services }) => {
      const otherServices = new Set(services);
      const callsBetween = calls.filter(
        ({ client, server }) =>
          client !== server &&
          ((ownServices.has(client) && otherServices.has(server)) ||
            (otherServices.has(client) && ownServices.has(server))),
      );
      const suggestion: MergeSuggestion = {
        incidentId: id,
        title,
        severity,
        openedAt,
        services: services.filter((service) => ownServices.has(service)),
        calls: callsBetween.map((call) => ({ ...call })),
      };
      return suggestion;
    })
    .filter((suggestion) => suggestion.services.length > 0 || suggestion.calls.length > 0)
    .toSorted(
      (left, right) =>
        countFailingCalls(right) - countFailingCalls(left) ||
        right.services.length - left.services.length ||
        left.openedAt.localeCompare(right.openedAt),
    );
};

const countFailingCalls = ({ calls }: MergeSuggestion): number => calls.reduce((sum, { errors }) => sum + errors, 0);
