import { defineGroup } from '../define-group.ts';
import { acceptInvite } from './accept-invite.ts';
import { changePassword } from './change-password.ts';
import { currentSession } from './current-session.ts';
import { endSession } from './end-session.ts';
import { forgotPassword } from './forgot-password.ts';
import { jwks } from './jwks.ts';
import { listSessions } from './list-sessions.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { confirmMultiFactor } from './mfa-confirm.ts';
import { enrollMultiFactor } from './mfa-enroll.ts';
import { renewRecoveryCodes } from './mfa-recovery-codes.ts';
import { turnMultiFactorOff } from './mfa-turn-off.ts';
import { finishOidc } from './oidc-callback.ts';
import { startOidc } from './oidc-start.ts';
import { refresh } from './refresh.ts';
import { register } from './register.ts';
import { resetPassword } from './reset-password.ts';
import { samlOperations } from './saml.ts';
import { switchTenant } from './switch-tenant.ts';

export const authenticationGroup = defineGroup({
  name: 'authentication',
  summary: 'Sign in and out, sessions, passwords, second factors and single sign-on.',
  operations: [
    login,
    refresh,
    logout,
    currentSession,
    listSessions,
    endSession,
    switchTenant,
    changePassword,
    forgotPassword,
    resetPassword,
    register,
    acceptInvite,
    jwks,
    enrollMultiFactor,
    confirmMultiFactor,
    renewRecoveryCodes,
    turnMultiFactorOff,
    startOidc,
    finishOidc,
    ...samlOperations,
  ],
});
