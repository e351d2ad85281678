/** Formats an API call as a curl command */
import { type Call, type CallInput, type OperationDeclaration, toUrl } from './call.ts';

/** Returns the call as a shell command that reads the user's token from `$TOKEN`. */
export const toCurl = <Operation extends OperationDeclaration>(
  call: Call<Operation>,
  callInput: CallInput<Operation>,
): string => {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = ['curl -s', ...(call.method === 'GET' ? [] : [`-X ${call.method}`])];
  parts.push('-H "authorization: Bearer $TOKEN"');
  if (callInput.ifMatch !== undefined) parts.push(`-H 'if-match: "${callInput.ifMatch}"'`);
  if (callInput.body !== undefined)
    parts.push("-H 'content-type: application/json'", `-d ${quote(JSON.stringify(callInput.body))}`);
  return [...parts, quote(`${location.origin}${toUrl(call, callInput)}`)].join(' ');
};
