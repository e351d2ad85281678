/** Detectors that do not score, for every group of operations that displays them. */
import { anomalyDetectors, maxDetectors } from '../../../schemas/resources/anomaly-detector.ts';
import { readDetector } from '../../../subjects/anomalies/detector.ts';
import { type DetectorSnapshot, snapshotsOf } from '../../../subjects/anomalies/detector-status.ts';
import type { Detector } from '../../../subjects/overview/attention.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readingOf } from '../../kernel/reading.ts';

const reasonOf = ({ state, error, lagSeconds: behindSeconds, lastStep }: DetectorSnapshot): string => {
  if (state === 'failed') return error ?? '';
  const since = lastStep === null ? 'no step was scored yet' : `the last step that was scored ended ${lastStep}`;
  return `it is ${Math.round((behindSeconds ?? 0) / 60)} minutes behind: ${since}`;
};

/** The enabled detectors of an organization that are delayed or failed. */
export const blockedDetectors = async (
  caller: Caller,
  ports: Pick<Ports, 'documents' | 'columns' | 'clock'>,
): Promise<Detector[]> => {
  if (!caller.plan.entitlements.includes('ai')) return [];
  const stored = ports.documents.of(caller.tenantId).collection(anomalyDetectors);
  const { items } = await stored.list({ filter: { enabled: true }, limit: maxDetectors });
  const known = items.flatMap((document) => {
    const fields = readDetector(document);
    return fields === undefined ? [] : [{ ...fields, id: document.id, createdAt: document.createdAt }];
  });
  const statuses = await snapshotsOf(readingOf(caller, ports), known);
  return known.flatMap(({ id, name }, index) => {
    const status = statuses[index];
    const isBlocked = status?.state === 'behind' || status?.state === 'failed';
    return status !== undefined && isBlocked ? [{ id, name, reason: reasonOf(status) }] : [];
  });
};
