import { z } from 'zod';
import { Actor } from '../../../schemas/resources/audit-record.ts';
import { breakKinds } from '../../audit/verification.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { HeadView, headViewOf } from './views.ts';

/** Case evidence, once there is any, is checked here too: its hashes belong in the same answer. */
export const verifyEvidence = defineOperation({
  method: 'GET',
  path: '/api/evidence/verify',
  operationId: 'verifyEvidence',
  summary: 'Verify the whole audit chain and every signed tree head; reports the first break',
  role: 'auditor',
  limit: { rate: 1, burst: 10 },
  response: z.strictObject({
    valid: z.boolean(),
    firstBreak: z
      .strictObject({
        kind: z.enum(breakKinds),
        sequence: z.int().describe('Sequence number of the first affected record'),
        message: z.string(),
      })
      .nullable(),
    records: z.int().describe('Records verified, up to the first break'),
    erasedDetails: z.int().describe('Records whose details were erased, each by a signed erasure'),
    erasures: z
      .array(
        z.strictObject({
          sequence: z.int().describe('Sequence number of the record of the erasure'),
          at: z.iso.datetime(),
          actor: Actor.describe('Who erased the details'),
          subject: z.string().nullable().describe('Id of the user whose details were erased; null for all users'),
          details: z.int().describe('Records whose missing details it explains'),
          signed: z.boolean().describe('Whether the installation signed it; an unsigned erasure explains nothing'),
        }),
      )
      .describe('All recorded erasures, in the order of the chain'),
    heads: z.int().describe('Signed tree heads verified, up to the first break'),
    lastHead: HeadView.nullable().describe('The last signed tree head that was verified'),
    unsigned: z.int().describe('Records that no signed tree head covers yet; they are signed within a minute'),
    checkedAt: z.iso.datetime(),
  }),
  async handler({ caller: { tenantId } }, { evidence, clock }) {
    const { firstBreak, records, erasedDetails, erasures, heads, lastHead, extent } = await evidence.verify(tenantId);
    return {
      valid: firstBreak === undefined,
      firstBreak: firstBreak ?? null,
      ...{ records, erasedDetails, erasures: [...erasures], heads },
      lastHead: lastHead === undefined ? null : headViewOf(lastHead),
      unsigned: Math.max(0, extent.upTo - (extent.newestHead?.size ?? 0)),
      checkedAt: new Date(clock.now()).toISOString(),
    };
  },
});
