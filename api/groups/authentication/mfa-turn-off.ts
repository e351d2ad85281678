import { z } from 'zod';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { signInChangedLetter } from '../../identity/accounts/letters.ts';
import { personOf } from '../../identity/caller.ts';
import { useCode } from '../../identity/second-factor.ts';
import { countAttempt } from '../../identity/sign-in-attempts.ts';
import { invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { refuseUnlessOn } from './mfa-on.ts';

export const turnMultiFactorOff = defineOperation({
  method: 'DELETE',
  path: '/auth/mfa',
  operationId: 'turnMultiFactorOff',
  summary: 'Turn multi-factor off (requires password and code)',
  role: 'session',
  audit: 'multi-factor.turn-off',
  body: z.strictObject({
    password: z.string().max(1024).default('').describe('Omit it if the account has no password (single sign-on)'),
    code: z.string().min(6).max(32).describe('Code of the authenticator, or a recovery code'),
  }),
  response: z.strictObject({}),
  async handler({ caller, body, request, change }, ports) {
    const { user } = personOf(caller);
    await refuseUnlessOn(user.id, ports);
    if (user.passwordHash !== null) {
      const attempt = await countAttempt(ports, request.address, user.email);
      if (!(await ports.passwords.verify(user.passwordHash, body.password))) throw invalid('password', 'is wrong');
      await attempt.succeeded();
    }
    if ((await useCode(user.id, body.code, request, ports)) === undefined) throw invalid('code', 'is wrong');
    await change(async (scope) => {
      await scope.of(multiFactorsTenant).collection(multiFactors).delete(user.id);
      const happened = 'Your second factor was turned off. You can now sign in with the password alone.';
      await ports.mail.put(scope, signInChangedLetter(ports.settings, user.email, happened));
      scope.record({ id: user.id, name: user.email, before: { on: true }, after: { on: false } });
    });
    return {};
  },
});
