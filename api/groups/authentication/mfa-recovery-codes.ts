import { z } from 'zod';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { personOf } from '../../identity/caller.ts';
import { makeRecoveryCodes } from '../../identity/multi-factor-codes.ts';
import { useCode } from '../../identity/second-factor.ts';
import { invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { refuseUnlessOn } from './mfa-on.ts';

export const RecoveryCodes = z.strictObject({
  recoveryCodes: z.array(z.string()).describe('Each replaces a code for one sign-in; shown only once'),
});

export const renewRecoveryCodes = defineOperation({
  method: 'POST',
  path: '/auth/mfa/recovery-codes',
  operationId: 'renewRecoveryCodes',
  summary: 'Create new recovery codes; the old ones become invalid',
  role: 'session',
  audit: 'multi-factor.renew-recovery-codes',
  body: z.strictObject({ code: z.string().min(6).max(32).describe('Code of the authenticator, or a recovery code') }),
  response: RecoveryCodes,
  async handler({ caller, body, request, change }, ports) {
    const { user } = personOf(caller);
    await refuseUnlessOn(user.id, ports);
    if ((await useCode(user.id, body.code, request, ports)) === undefined) throw invalid('code', 'is wrong');
    const codes = makeRecoveryCodes(ports.secretBox, user.id);
    await change(async ({ of, record }) => {
      await of(multiFactorsTenant)
        .collection(multiFactors)
        .update(user.id, { recoveryCodes: [...codes.kept] });
      record({ id: user.id, name: user.email });
    });
    return { recoveryCodes: [...codes.shown] };
  },
});
