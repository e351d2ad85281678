import type { Operation } from '../../http/operation.ts';
import { currentSession } from './current-session.ts';
import { jwks } from './jwks.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';

export const authenticationOperations: readonly Operation[] = [login, logout, currentSession, jwks];
