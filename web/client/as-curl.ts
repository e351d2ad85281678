/** A call as people repeat it outside of the page. */
import { addressOf, type Call, type Declared, type Sent } from './call.ts';

/** The call for a shell, with a token of the reader's own. */
export const asCurl = <Operation extends Declared>(call: Call<Operation>, sent: Sent<Operation>): string => {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = ['curl -s', ...(call.method === 'GET' ? [] : [`-X ${call.method}`])];
  parts.push('-H "authorization: Bearer $TOKEN"');
  if (sent.ifMatch !== undefined) parts.push(`-H 'if-match: "${sent.ifMatch}"'`);
  if (sent.body !== undefined)
    parts.push("-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(sent.body))}`);
  return [...parts, quoted(`${location.origin}${addressOf(call, sent)}`)].join(' ');
};
