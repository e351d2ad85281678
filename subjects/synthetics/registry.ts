/** Registry of check types: one line each. Settings, validation and the tests of all types are derived from it. */
import { browser } from './types/browser.ts';
import type { CheckType } from './types/definition.ts';
import { dns } from './types/dns.ts';
import { grpc } from './types/grpc.ts';
import { heartbeat } from './types/heartbeat.ts';
import { http } from './types/http.ts';
import { icmp } from './types/icmp.ts';
import { tcp } from './types/tcp.ts';
import { tls } from './types/tls.ts';
import { websocket } from './types/websocket.ts';

export const declaredTypes = [http, tcp, tls, dns, icmp, grpc, websocket, browser, heartbeat] as const;

export const checkTypes: readonly CheckType[] = declaredTypes;

/** Returns a check type. Throws for an unknown type, because the type is validated when a check is stored. */
export const getCheckType = (type: string): CheckType => {
  const checkType = checkTypes.find((checkType) => checkType.type === type);
  if (checkType === undefined) throw new TypeError(`the check type ${type} does not exist`);
  return checkType;
};
