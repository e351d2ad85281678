import { defineCollection } from '../ports/documents.ts';

/** Resources that have had no data since they were created, which is reported. */
export const emptyResultKinds = ['alert-rule', 'anomaly-detector', 'synthetic-check'] as const;
export type EmptyResultKind = (typeof emptyResultKinds)[number];

/** A resource that has had no data so far, although it is an hour old. It is deleted when data arrives. */
export interface EmptyResult {
  readonly kind: EmptyResultKind;
  readonly resourceId: string;
}
export const emptyResults = defineCollection<EmptyResult>({ name: 'empty-results', indexes: [['kind', 'resourceId']] });
