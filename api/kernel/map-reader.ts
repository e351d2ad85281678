import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { MapReader } from '../../subjects/rum/source-maps/map-frames.ts';
import type { Caller } from '../callers/caller.ts';
import type { Ports } from './ports.ts';

export interface MapRequest {
  readonly caller: Caller;
  readonly reader: Pick<TenantReader, 'columns'>;
  readonly signal: AbortSignal;
}

/** Returns what reading source maps needs of a request. */
export const createMapReader = (
  { caller, reader, signal }: MapRequest,
  { documents }: Pick<Ports, 'documents'>,
): MapReader => ({
  columns: reader.columns,
  documents: documents.forTenant(caller.tenantId),
  requester: { tenantId: caller.tenantId, callerId: caller.actor.id, signal },
});
