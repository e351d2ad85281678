/** Formats a call for use outside of the page */
import { addressOf, type Call, type Declared, type Sent } from './call.ts';

/** Returns the call as a shell command that reads the user's token from `$TOKEN`. */
export const asCurl = <Operation extends Declared>(call: Call<Operation>, sent: Sent<Operation>): string => {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = ['curl -s', ...(call.method === 'GET' ? [] : [`-X ${call.method}`])];
  parts.push('-H "authorization: Bearer $TOKEN"');
  if (sent.ifMatch !== undefined) parts.push(`-H 'if-match: "${sent.ifMatch}"'`);
  if (sent.body !== undefined)
    parts.push("-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(sent.body))}`);
  return [...parts, quoted(`${location.origin}${addressOf(call, sent)}`)].join(' ');
};
