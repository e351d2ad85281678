import { generateSecret, generateURI } from 'otplib';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { requireUser } from '../../callers/caller.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { createSignInChangedMail } from '../../identity/accounts/account-mails.ts';
import { createRecoveryCodes, getSecretContext } from '../../identity/multi-factor-codes.ts';
import { findEnrolment, useCode } from '../../identity/second-factor.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { countSignInAttempt } from '../../identity/sign-in-attempts.ts';
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
    const { user, identityProviderTenantId } = requireUser(caller);
    // A session from one organization's identity provider must not change how the user signs in to other organizations.
    if (identityProviderTenantId !== undefined)
      throw new ApiError(
        'FORBIDDEN',
        'this session began at an identity provider, whose second factor counts; sign in with the password to set one up here',
      );
    const secret = generateSecret();
    await change(async ({ forTenant, record }) => {
      const enrolments = forTenant(multiFactorsTenant).collection(multiFactors);
      const existing = await enrolments.find(user.id);
      if (existing?.confirmedAt)
        throw new ApiError('CONFLICT', 'multi-factor is enabled; disable it before you enroll another authenticator');
      const pendingEnrolment = {
        secret: secretBox.seal(getSecretContext(user.id), secret),
        confirmedAt: null,
        lastTimeStep: 0,
        recoveryCodes: [],
      };
      if (existing === undefined) await enrolments.insert({ id: user.id, ...pendingEnrolment });
      else await enrolments.replace(user.id, pendingEnrolment, existing.version);
      record({ id: user.id, name: user.email });
    });
    const uri = generateURI({ issuer: 'OIQ', label: user.email, secret });
    const svgBase64 = Buffer.from(renderSVG(uri, { border: 2 })).toString('base64');
    return { secret, uri, qrCode: `data:image/svg+xml;base64,${svgBase64}` };
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
    const { user, sessionId, identityProviderTenantId } = requireUser(caller);
    const enrolment = await findEnrolment(user.id, ports);
    if (enrolment === undefined)
      throw new ApiError('CONFLICT', 'no authenticator is enrolled; call POST /auth/mfa/enroll first');
    if (enrolment.confirmedAt !== null) throw new ApiError('CONFLICT', 'multi-factor is already enabled');
    if ((await useCode(user.id, body.code, request, ports)) === undefined)
      throw createFieldError('code', 'is not the authenticator’s current code; check its clock');
    const codes = createRecoveryCodes(ports.secretBox, user.id);
    await change(async (scope) => {
      const enrolments = scope.forTenant(multiFactorsTenant).collection(multiFactors);
      // The code belongs to this secret only if no other was enrolled in the meantime.
      const current = await enrolments.find(user.id);
      if (current?.secret !== enrolment.secret || current.confirmedAt !== null)
        throw new ApiError('CONFLICT', 'another authenticator was enrolled meanwhile');
      const confirmedAt = new Date(ports.clock.now()).toISOString();
      await enrolments.update(user.id, { confirmedAt, recoveryCodes: [...codes.hashes] }, current.version);
      const mailText = 'A second factor was set up. Signing in now requires a code.';
      await ports.mail.enqueue(scope, createSignInChangedMail(ports.settings, user.email, mailText));
      scope.record({ id: user.id, name: user.email, before: { on: false }, after: { on: true } });
      const sessionFilter = identityProviderTenantId === undefined ? {} : { tenantId: identityProviderTenantId };
      if (body.endOtherSessions) await removeSessions(scope, { userId: user.id, ...sessionFilter }, sessionId);
    });
    return { recoveryCodes: [...codes.displayedCodes] };
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
    const { user } = requireUser(caller);
    await requireMultiFactor(user.id, ports);
    if ((await useCode(user.id, body.code, request, ports)) === undefined) throw createFieldError('code', 'is wrong');
    const codes = createRecoveryCodes(ports.secretBox, user.id);
    await change(async ({ forTenant, record }) => {
      await forTenant(multiFactorsTenant)
        .collection(multiFactors)
        .update(user.id, { recoveryCodes: [...codes.hashes] });
      record({ id: user.id, name: user.email });
    });
    return { recoveryCodes: [...codes.displayedCodes] };
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
    const { user } = requireUser(caller);
    await requireMultiFactor(user.id, ports);
    if (user.passwordHash !== null) {
      const attempt = await countSignInAttempt(ports, request.address, user.email);
      if (!(await ports.passwords.verify(user.passwordHash, body.password)))
        throw createFieldError('password', 'is wrong');
      await attempt.reportSuccess();
    }
    if ((await useCode(user.id, body.code, request, ports)) === undefined) throw createFieldError('code', 'is wrong');
    await change(async (scope) => {
      await scope.forTenant(multiFactorsTenant).collection(multiFactors).delete(user.id);
      const mailText = 'Your second factor was turned off. You can now sign in with the password alone.';
      await ports.mail.enqueue(scope, createSignInChangedMail(ports.settings, user.email, mailText));
      scope.record({ id: user.id, name: user.email, before: { on: true }, after: { on: false } });
    });
    return {};
  },
});

/** Throws `CONFLICT` if multi-factor is disabled. */
const requireMultiFactor = async (userId: string, ports: Pick<Ports, 'documents'>): Promise<void> => {
  const enrolment = await findEnrolment(userId, ports);
  if (!enrolment?.confirmedAt) throw new ApiError('CONFLICT', 'multi-factor is not enabled');
};
