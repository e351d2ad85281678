import { z } from 'zod';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { signInChangedLetter } from '../../identity/accounts/letters.ts';
import { personOf } from '../../identity/caller.ts';
import { makeRecoveryCodes } from '../../identity/multi-factor-codes.ts';
import { enrolmentOf, useCode } from '../../identity/second-factor.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { ApiError, invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { RecoveryCodes } from './mfa-recovery-codes.ts';

export const confirmMultiFactor = defineOperation({
  method: 'POST',
  path: '/auth/mfa/confirm',
  operationId: 'confirmMultiFactor',
  summary: 'Confirm the enrolled authenticator with a code: turns multi-factor on and returns recovery codes, once',
  role: 'session',
  audit: 'multi-factor.confirm',
  body: z.strictObject({
    code: z.string().min(6).max(32),
    endOtherSessions: z.boolean().default(false).describe('Ends my other sessions, which were started without a code'),
  }),
  response: RecoveryCodes,
  async handler({ caller, body, request, change }, ports) {
    const { user, sessionId, provedBy } = personOf(caller);
    const enrolment = await enrolmentOf(user.id, ports);
    if (enrolment === undefined)
      throw new ApiError('CONFLICT', 'no authenticator is enrolled; call POST /auth/mfa/enroll first');
    if (enrolment.confirmedAt !== null) throw new ApiError('CONFLICT', 'multi-factor is on already');
    if ((await useCode(user.id, body.code, request, ports)) === undefined)
      throw invalid('code', 'is not the authenticator’s current code; check its clock');
    const codes = makeRecoveryCodes(ports.secretBox, user.id);
    await change(async (scope) => {
      const enrolments = scope.of(multiFactorsTenant).collection(multiFactors);
      // The code belongs to this secret only if no other was enrolled meanwhile.
      const current = await enrolments.find(user.id);
      if (current?.secret !== enrolment.secret || current.confirmedAt !== null)
        throw new ApiError('CONFLICT', 'another authenticator was enrolled meanwhile');
      const confirmedAt = new Date(ports.clock.now()).toISOString();
      await enrolments.update(user.id, { confirmedAt, recoveryCodes: [...codes.kept] }, current.version);
      const happened = 'A second factor was set up. Signing in now requires a code.';
      await ports.mail.put(scope, signInChangedLetter(ports.settings, user.email, happened));
      scope.record({ id: user.id, name: user.email, before: { on: false }, after: { on: true } });
      const where = provedBy === undefined ? {} : { tenantId: provedBy };
      if (body.endOtherSessions) await removeSessions(scope, { userId: user.id, ...where }, sessionId);
    });
    return { recoveryCodes: [...codes.shown] };
  },
});
