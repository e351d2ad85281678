/** Telemetry of a caller's organization, for the status of its rules. */
import type { FieldTable } from '../../../subjects/detections/fields/table.ts';
import { readTables } from '../../../subjects/detections/rule-tests.ts';
import { defaultTelemetryDays, readTelemetry, type Telemetry } from '../../../subjects/detections/telemetry.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import type { ResourceContext } from '../../resources/resource-spec.ts';

/** Returns the organization's field tables, and the telemetry of the last days. */
export const readRuleTelemetry = async (
  { caller, ports }: ResourceContext,
  days = defaultTelemetryDays,
): Promise<{ readonly tables: readonly FieldTable[]; readonly telemetry: Telemetry }> => {
  const tables = await readTables(ports.documents.forTenant(caller.tenantId));
  return { tables, telemetry: await readTelemetry(createQueryReader(caller, ports), days, tables) };
};
