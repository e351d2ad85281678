import { z } from 'zod';
import { breakKinds } from '../../audit/verification.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { HeadView, headViewOf } from './views.ts';

/** Case evidence, once there is any, is checked here too: its hashes belong in the same answer. */
export const verifyEvidence = defineOperation({
  method: 'GET',
  path: '/api/evidence/verify',
  operationId: 'verifyEvidence',
  summary: 'Check the whole audit chain against itself and every signed head; names the first break',
  role: 'auditor',
  limit: { rate: 1, burst: 10 },
  response: z.strictObject({
    valid: z.boolean(),
    firstBreak: z
      .strictObject({
        kind: z.enum(breakKinds),
        sequence: z.int().describe('The first record concerned'),
        message: z.string(),
      })
      .nullable(),
    records: z.int().describe('Records found good, up to the first break'),
    erasedDetails: z.int().describe('Records whose details were erased, each by a recorded erasure'),
    heads: z.int().describe('Signed heads found good, up to the first break'),
    lastHead: HeadView.nullable().describe('The last signed head found good'),
    unsigned: z.int().describe('Records that no signed head covers yet: they are signed within a minute'),
    checkedAt: z.iso.datetime(),
  }),
  async handler({ caller: { tenantId } }, { evidence, clock }) {
    const { firstBreak, records, erasedDetails, heads, lastHead, extent } = await evidence.verify(tenantId);
    return {
      valid: firstBreak === undefined,
      firstBreak: firstBreak ?? null,
      ...{ records, erasedDetails, heads },
      lastHead: lastHead === undefined ? null : headViewOf(lastHead),
      unsigned: Math.max(0, extent.upTo - (extent.newestHead?.size ?? 0)),
      checkedAt: new Date(clock.now()).toISOString(),
    };
  },
});
