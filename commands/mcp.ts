/** `oiq mcp`: a server of the Model Context Protocol on standard input and output, which passes messages to `/mcp` of an installation. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { requireToken, resolveApiAddress } from './api-request.ts';
import { parseArguments } from './command-arguments.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq mcp [--api URL]

Serves the Model Context Protocol on standard input and output, for coding agents that start a program. Agents that
connect over HTTP use URL/mcp with the header "Authorization: Bearer TOKEN".

MCP_TOKEN in the environment is an API token. Its scopes decide which tools the agent has: logs:read, traces:read,
metrics:read, prometheus:read, services:read, errors:read, alerts:read, incidents:read, ai:read …
`;

const options = { api: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;

/** Error of the server in JSON-RPC: its reserved range begins here. */
const serverErrorCode = -32_000;

export const mcpCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const { values, positionals } = parseArguments(args, options, help);
  if (values.help === true) return void process.stdout.write(help);
  if (positionals.length > 0) throw new UsageError(`oiq mcp takes no arguments\n\n${help}`);
  const token = requireToken(environment, 'MCP_TOKEN', help);
  const address = new URL('/mcp', resolveApiAddress(values.api, environment));
  const headers = { authorization: `Bearer ${token}` };
  const installation = new StreamableHTTPClientTransport(address, { requestInit: { headers } });
  const client = new StdioServerTransport();
  const closed = Promise.withResolvers<void>();
  client.onclose = () => closed.resolve();
  process.stdin.once('end', () => closed.resolve());
  installation.onmessage = (message: JSONRPCMessage) => void client.send(message);
  client.onmessage = (message: JSONRPCMessage) => {
    installation.send(message).catch((error: Error) => {
      const text = `${address.origin}: ${error.message}`;
      if (!isJSONRPCRequest(message)) return void process.stderr.write(`oiq mcp: ${text}\n`);
      void client.send({ jsonrpc: '2.0', id: message.id, error: { code: serverErrorCode, message: text } });
    });
  };
  await installation.start();
  await client.start();
  await closed.promise;
  await installation.close();
};
