// The log: lines on standard error for the operator, since standard output belongs to the protocol.
//
// What always holds: whoever writes here masks secrets first. `MCP_AQL_LOG=debug` shows more than warnings.

type Fields = Readonly<Record<string, unknown>>;

function line(level: string, message: string, fields: Fields): void {
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? JSON.stringify(value) : String(value)}`);
  process.stderr.write(`${new Date().toISOString()} ${level} ${message}${shown.join("")}\n`);
}

export const log = {
  warn(message: string, fields: Fields = {}): void {
    line("WARN", message, fields);
  },

  debug(message: string, fields: Fields = {}): void {
    if (process.env["MCP_AQL_LOG"] === "debug") line("DEBUG", message, fields);
  },
};
