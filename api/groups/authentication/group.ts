import { defineGroup } from '../define-group.ts';
import { acceptInvite } from './joining.ts';
import { changePassword } from './password.ts';
import { currentSession } from './sessions.ts';
import { endSession } from './sessions.ts';
import { forgotPassword } from './password.ts';
import { jwks } from './sessions.ts';
import { listSessions } from './sessions.ts';
import { login } from './login.ts';
import { logout } from './sessions.ts';
import { confirmMultiFactor } from './multi-factor.ts';
import { enrollMultiFactor } from './multi-factor.ts';
import { renewRecoveryCodes } from './multi-factor.ts';
import { turnMultiFactorOff } from './multi-factor.ts';
import { finishOidc } from './oidc.ts';
import { startOidc } from './oidc.ts';
import { refresh } from './sessions.ts';
import { register } from './joining.ts';
import { resetPassword } from './password.ts';
import { samlOperations } from './saml.ts';
import { switchTenant } from './sessions.ts';

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
