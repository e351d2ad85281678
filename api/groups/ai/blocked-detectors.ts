/** Detectors that do not score, for every group of operations that displays them. */
import { anomalyDetectors, maxDetectors } from '../../../schemas/resources/anomaly-detector.ts';
import { parseStoredDetector } from '../../../subjects/anomalies/detector.ts';
import { type DetectorSnapshot, readSnapshots } from '../../../subjects/anomalies/detector-status.ts';
import type { Detector } from '../../../subjects/overview/attention.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const describeReason = ({ state, error, lagSeconds, lastStep }: DetectorSnapshot): string => {
  if (state === 'failed') return error ?? '';
  const lastStepText = lastStep === null ? 'no step was scored yet' : `the last step that was scored ended ${lastStep}`;
  return `it is ${Math.round((lagSeconds ?? 0) / 60)} minutes behind: ${lastStepText}`;
};

/** The enabled detectors of an organization that are delayed or failed. */
export const findBlockedDetectors = async (
  caller: Caller,
  ports: Pick<Ports, 'documents' | 'columns' | 'clock'>,
): Promise<Detector[]> => {
  if (!caller.plan.entitlements.includes('ai')) return [];
  const stored = ports.documents.forTenant(caller.tenantId).collection(anomalyDetectors);
  const { items } = await stored.list({ filter: { enabled: true }, limit: maxDetectors });
  const parsedDetectors = items.flatMap((document) => {
    const fields = parseStoredDetector(document);
    return fields === undefined ? [] : [{ ...fields, id: document.id, createdAt: document.createdAt }];
  });
  const statuses = await readSnapshots(createQueryReader(caller, ports), parsedDetectors);
  return parsedDetectors.flatMap(({ id, name }, index) => {
    const status = statuses[index];
    const isBlocked = status?.state === 'behind' || status?.state === 'failed';
    return status !== undefined && isBlocked ? [{ id, name, reason: describeReason(status) }] : [];
  });
};
