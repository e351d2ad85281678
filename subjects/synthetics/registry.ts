/** The types of checks: one line each. Settings, their problems and the suite of tests follow. */
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

/** Throws for a type that there is not: it is checked when a check is stored. */
export const checkTypeOf = (type: string): CheckType => {
  const found = checkTypes.find((each) => each.type === type);
  if (found === undefined) throw new TypeError(`there is no check of type ${type}`);
  return found;
};
