import { generateSecret, generateURI } from 'otplib';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { personOf } from '../../callers/caller.ts';
import { ApiError, invalid } from '../../errors.ts';
import { signInChangedMail } from '../../identity/accounts/account-mails.ts';
import { makeRecoveryCodes, sealedFor } from '../../identity/multi-factor-codes.ts';
import { enrolmentOf, useCode } from '../../identity/second-factor.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { countAttempt } from '../../identity/sign-in-attempts.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';

const RecoveryCodes = z.strictObject({
  recoveryCodes: z.array(z.string()).describe('Recovery codes, each valid for one sign-in; shown only once'),
});

export const enrollMultiFactor = defineOperation({
  method: 'POST',
  path: '/auth/mfa/enroll',
  operationId: 'enrollMultiFactor',
  summary: 'Create a TOTP secret, with its otpauth URI and QR code; it takes effect when its first code is confirmed',
  role: 'session',
  audit: 'multi-factor.enroll',
  response: z.strictObject({
    secret: z.string().describe('Base32, for manual entry; shown only once'),
    uri: z.string().describe('otpauth://'),
    qrCode: z.string().describe('QR code of the URI: an SVG image as a data: URI'),
  }),
  async handler({ caller, change }, { secretBox }) {
    const { user, provedBy } = personOf(caller);
    // One organization's provider must not decide how the user signs in to the others.
    if (provedBy !== undefined)
      throw new ApiError(
        'FORBIDDEN',
        'this session began at an identity provider, whose second factor counts; sign in with the password to set one up here',
      );
    const secret = generateSecret();
    await change(async ({ of, record }) => {
      const enrolments = of(multiFactorsTenant).collection(multiFactors);
      const before = await enrolments.find(user.id);
      if (before?.confirmedAt)
        throw new ApiError('CONFLICT', 'multi-factor is on; turn it off before you enroll another authenticator');
      const pending = {
        secret: secretBox.seal(sealedFor(user.id), secret),
        confirmedAt: null,
        lastTimeStep: 0,
        recoveryCodes: [],
      };
      if (before === undefined) await enrolments.insert({ id: user.id, ...pending });
      else await enrolments.replace(user.id, pending, before.version);
      record({ id: user.id, name: user.email });
    });
    const uri = generateURI({ issuer: 'OIQ', label: user.email, secret });
    const picture = Buffer.from(renderSVG(uri, { border: 2 })).toString('base64');
    return { secret, uri, qrCode: `data:image/svg+xml;base64,${picture}` };
  },
});

export const confirmMultiFactor = defineOperation({
  method: 'POST',
  path: '/auth/mfa/confirm',
  operationId: 'confirmMultiFactor',
  summary: 'Confirm the enrolled authenticator with a code: enables multi-factor and returns recovery codes, once',
  role: 'session',
  audit: 'multi-factor.confirm',
  body: z.strictObject({
    code: z.string().min(6).max(32),
    endOtherSessions: z
      .boolean()
      .default(false)
      .describe('Whether to end my other sessions, which were started without a code'),
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
      // The code belongs to this secret only if no other was enrolled in the meantime.
      const current = await enrolments.find(user.id);
      if (current?.secret !== enrolment.secret || current.confirmedAt !== null)
        throw new ApiError('CONFLICT', 'another authenticator was enrolled meanwhile');
      const confirmedAt = new Date(ports.clock.now()).toISOString();
      await enrolments.update(user.id, { confirmedAt, recoveryCodes: [...codes.hashes] }, current.version);
      const happened = 'A second factor was set up. Signing in now requires a code.';
      await ports.mail.put(scope, signInChangedMail(ports.settings, user.email, happened));
      scope.record({ id: user.id, name: user.email, before: { on: false }, after: { on: true } });
      const where = provedBy === undefined ? {} : { tenantId: provedBy };
      if (body.endOtherSessions) await removeSessions(scope, { userId: user.id, ...where }, sessionId);
    });
    return { recoveryCodes: [...codes.shown] };
  },
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
        .update(user.id, { recoveryCodes: [...codes.hashes] });
      record({ id: user.id, name: user.email });
    });
    return { recoveryCodes: [...codes.shown] };
  },
});

export const turnMultiFactorOff = defineOperation({
  method: 'DELETE',
  path: '/auth/mfa',
  operationId: 'turnMultiFactorOff',
  summary: 'Disable multi-factor (requires password and code)',
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
      await ports.mail.put(scope, signInChangedMail(ports.settings, user.email, happened));
      scope.record({ id: user.id, name: user.email, before: { on: true }, after: { on: false } });
    });
    return {};
  },
});

/** Throws `CONFLICT` if multi-factor is disabled. */
const refuseUnlessOn = async (userId: string, ports: Pick<Ports, 'documents'>): Promise<void> => {
  const enrolment = await enrolmentOf(userId, ports);
  if (!enrolment?.confirmedAt) throw new ApiError('CONFLICT', 'multi-factor is not on');
};
