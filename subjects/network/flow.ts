/** Traffic between two endpoints. A flow has one direction. */
import { z } from 'zod';
import { Incompleteness } from '../../queries/result.ts';
import { NumberOrReason, toUnknownNumber } from '../../queries/unknown-numbers.ts';

/** Grouping of the endpoints of a flow */
export const flowViews = ['workload', 'host', 'zone', 'address'] as const;
export type FlowView = (typeof flowViews)[number];

const FlowEnd = z.strictObject({
  id: z.string().describe('Kind and name; stable across responses'),
  kind: z
    .enum([...flowViews, 'unknown'])
    .describe(
      '`address` if the resource behind it is unknown; `unknown` if the observer does not report this endpoint',
    ),
  name: z.string().describe('`namespace/workload`, host, zone or address; empty for `unknown`'),
});
export type FlowEnd = z.output<typeof FlowEnd>;

export const Flow = z.strictObject({
  source: FlowEnd,
  destination: FlowEnd,
  transport: z.string().describe('`tcp`, `udp` …; empty if the view does not group by it'),
  destinationPort: z.int().nullable().describe('Destination port; `null` if the view does not group by it'),
  bytes: z.number(),
  packets: NumberOrReason,
  bytesPerSecond: z.number(),
  seenBy: z
    .enum(['ebpf', 'exporter'])
    .describe('`ebpf`: metrics of an agent on the hosts; `exporter`: flow records of a router or switch'),
  isCountedOnce: z
    .strictObject({ value: z.boolean().nullable(), reason: z.string().nullable() })
    .describe(
      'Whether traffic that both endpoints report is counted once; `null` with the reason if observers do not report their side',
    ),
});
export type Flow = z.output<typeof Flow>;

export interface FlowQuery {
  readonly view: FlowView;
  readonly projectId?: string | undefined;
}

export const FlowsPartial = z.array(Incompleteness).describe('Missing parts of the result; empty if it is complete');

export const createFlowEnd = (kind: FlowView, name: string): FlowEnd =>
  name === '' ? { id: 'unknown', kind: 'unknown', name: '' } : { id: `${kind}:${name}`, kind, name };

export const unknownPackets = toUnknownNumber('agents report bytes only');
