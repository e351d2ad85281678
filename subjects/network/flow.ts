/** Traffic between two ends. A flow goes one way. */
import { z } from 'zod';
import { Incompleteness } from '../../queries/result.ts';
import { Known, unknown } from '../../queries/unknown.ts';

/** What the two ends of a flow are told apart by. */
export const flowViews = ['workload', 'host', 'zone', 'address'] as const;
export type FlowView = (typeof flowViews)[number];

const FlowEnd = z.strictObject({
  id: z.string().describe('Kind and name: the same in every answer'),
  kind: z
    .enum([...flowViews, 'unknown'])
    .describe('address where nothing tells what is behind it; unknown where the observer says nothing of this end'),
  name: z.string().describe('namespace/workload, host, zone or address; empty for unknown'),
});
export type FlowEnd = z.output<typeof FlowEnd>;

export const Flow = z.strictObject({
  source: FlowEnd,
  destination: FlowEnd,
  transport: z.string().describe('tcp, udp …; empty where the view does not tell flows apart by it'),
  destinationPort: z.int().nullable().describe('Null where the view does not tell flows apart by it'),
  bytes: z.number(),
  packets: Known,
  bytesPerSecond: z.number(),
  seenBy: z
    .enum(['ebpf', 'exporter'])
    .describe('ebpf: metrics of an agent on the hosts; exporter: flow records of a router or switch'),
  isCountedOnce: z
    .strictObject({ value: z.boolean().nullable(), reason: z.string().nullable() })
    .describe(
      'Whether what both ends reported surely counts once; null with the reason where observers do not say on which side they looked',
    ),
});
export type Flow = z.output<typeof Flow>;

export interface FlowQuery {
  readonly view: FlowView;
  readonly projectId?: string | undefined;
}

export const FlowsPartial = z.array(Incompleteness).describe('Empty when the answer is complete');

export const endOf = (kind: FlowView, name: string): FlowEnd =>
  name === '' ? { id: 'unknown', kind: 'unknown', name: '' } : { id: `${kind}:${name}`, kind, name };

export const noPackets = unknown('agents count bytes only');
