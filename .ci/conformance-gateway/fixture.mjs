// A server with every feature that the conformance suite tests, on the official SDK. It speaks both revisions over HTTP and prints its URL.

import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { localhostHostValidation, localhostOriginValidation, NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, InMemoryServerEventBus, MissingRequiredClientCapabilityError, ProtocolError, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const text = (words) => ({ type: 'text', text: words });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });
const answer = (...content) => ({ content });
const object = (properties = {}, required = []) => ({ type: 'object', properties, required });
const pause = () => new Promise((done) => setTimeout(done, 50));

async function asked(question) {
  try {
    return await question;
  } catch (error) {
    return { refused: String(error) };
  }
}

const form = (message, properties, required = []) => ({ mode: 'form', message, requestedSchema: { type: 'object', properties, required } });
const titled = [{ const: 'value1', title: 'First Option' }, { const: 'value2', title: 'Second Option' }, { const: 'value3', title: 'Third Option' }];
const plain = ['option1', 'option2', 'option3'];
const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const CHOICES = {
  untitledSingle: { type: 'string', enum: plain },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
};

// Questions of the revision without a handshake: the result of a call names them, and the next call has the answers.
const QUESTIONS = {
  test_input_required_result_elicitation: { user_name: ['elicitation/create', form('What is your name?', { name: { type: 'string' } }, ['name'])] },
  test_input_required_result_sampling: {
    capital_question: ['sampling/createMessage', { messages: [{ role: 'user', content: text('What is the capital of France?') }], maxTokens: 100 }],
  },
  test_input_required_result_list_roots: { client_roots: ['roots/list', {}] },
};

const TOOLS = {
  test_simple_text: () => answer(text('This is a simple text response for testing.')),
  test_image_content: () => answer(image),
  test_audio_content: () => answer({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: () => answer(resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  test_multiple_content_types: () =>
    answer(text('Multiple content types test:'), image, resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')),
  test_error_handling: () => ({ ...answer(text('This tool intentionally returns an error for testing')), isError: true }),
  test_tool_with_logging: async (_, context) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await context.mcpReq.log('info', words);
      await pause();
    }
    return answer(text('Tool with logging executed successfully'));
  },
  test_tool_with_progress: async (_, context) => {
    const progressToken = context.mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await pause();
    }
    return answer(text(String(progressToken)));
  },
  test_sampling: async ({ prompt }, context) => {
    const params = { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 };
    return answer(text(`LLM response: ${JSON.stringify(await asked(context.mcpReq.requestSampling(params)))}`));
  },
  test_elicitation: async ({ message }, context) => {
    const said = await asked(context.mcpReq.elicitInput(form(message, { username: { type: 'string' }, email: { type: 'string' } }, ['username', 'email'])));
    return answer(text(`User response: action=${said.action}, content=${JSON.stringify(said.content)}`));
  },
  test_elicitation_sep1034_defaults: async (_, context) => {
    const said = await asked(context.mcpReq.elicitInput(form('Please review the values.', DEFAULTS)));
    return answer(text(`Elicitation completed: action=${said.action}, content=${JSON.stringify(said.content)}`));
  },
  test_elicitation_sep1330_enums: async (_, context) => {
    const said = await asked(context.mcpReq.elicitInput(form('Please choose.', CHOICES)));
    return answer(text(`Elicitation completed: action=${said.action}, content=${JSON.stringify(said.content)}`));
  },
  json_schema_2020_12_tool: (args) => answer(text(`JSON Schema 2020-12 tool called with: ${JSON.stringify(args)}`)),
};

const requests = (questions) => Object.fromEntries(Object.entries(questions).map(([key, [method, params]]) => [key, { method, params }]));
for (const [name, questions] of Object.entries(QUESTIONS)) {
  TOOLS[name] = (_, context) => {
    const said = context.mcpReq.inputResponses;
    if (said) return answer(text(`Answered: ${JSON.stringify(said)}`));
    return { resultType: 'input_required', inputRequests: requests(questions) };
  };
}

// Calls with a state that the client returns: signed, because a client could change it.
const SECRET = randomBytes(32);
const sign = (step) => `${step}.${createHmac('sha256', SECRET).update(String(step)).digest('hex')}`;
function stepOf(state) {
  const step = Number(state.split('.')[0]);
  if (sign(step) !== state) throw new ProtocolError(-32602, 'Invalid requestState');
  return step;
}
const name = ['elicitation/create', form('What is your name?', { name: { type: 'string' } }, ['name'])];
const colour = ['elicitation/create', form('What is your favourite colour?', { color: { type: 'string' } }, ['color'])];
const greeting = ['sampling/createMessage', { messages: [{ role: 'user', content: text('Generate a greeting') }], maxTokens: 50 }];
const stepwise = (...rounds) => (_, context) => {
  const state = typeof context.mcpReq.requestState === 'function' ? context.mcpReq.requestState() : context.mcpReq.requestState;
  const step = state === undefined ? 0 : stepOf(state);
  if (step >= rounds.length) return answer(text(`state-ok: ${JSON.stringify(context.mcpReq.inputResponses)}`));
  return { resultType: 'input_required', inputRequests: requests(rounds[step]), requestState: sign(step + 1) };
};
TOOLS.test_input_required_result_request_state = stepwise({ confirm: ['elicitation/create', form('Please confirm', { ok: { type: 'boolean' } }, ['ok'])] });
TOOLS.test_input_required_result_tampered_state = stepwise({ confirm: ['elicitation/create', form('Please confirm', { ok: { type: 'boolean' } }, ['ok'])] });
TOOLS.test_input_required_result_multiple_inputs = stepwise({ user_name: name, greeting, client_roots: ['roots/list', {}] });
TOOLS.test_input_required_result_multi_round = stepwise({ step1: name }, { step2: colour });
TOOLS.test_input_required_result_capabilities = (_, context) => {
  const able = context.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
  const questions = { ...(able.sampling && { greeting }), ...(able.elicitation && { user_name: name }) };
  return context.mcpReq.inputResponses || Object.keys(questions).length === 0 ? answer(text('done')) : { resultType: 'input_required', inputRequests: requests(questions) };
};
TOOLS.test_missing_capability = (_, context) => {
  const able = context.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
  if (!able.sampling) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  return answer(text('The client can sample.'));
};
TOOLS.test_streaming_elicitation = TOOLS.test_input_required_result_elicitation;
TOOLS.test_logging_tool = TOOLS.test_tool_with_logging;

const SCHEMAS = {
  test_sampling: object({ prompt: { type: 'string' } }, ['prompt']),
  test_elicitation: object({ message: { type: 'string' } }, ['message']),
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'address', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    allOf: [{ anyOf: [{ required: ['name'] }, { required: ['address'] }] }],
    if: { required: ['address'] },
    then: { properties: { name: { minLength: 1 } } },
    else: { required: ['name'] },
    additionalProperties: false,
  },
};

const PROMPTS = {
  test_simple_prompt: [[], () => [text('This is a simple prompt for testing.')]],
  test_prompt_with_arguments: [['arg1', 'arg2'], (args) => [text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)]],
  test_prompt_with_embedded_resource: [['resourceUri'], (args) => [resource(args.resourceUri, 'text/plain', 'Embedded resource content for testing.'), text('Please process the embedded resource above.')]],
  test_prompt_with_image: [[], () => [image, text('Please analyze the image above.')]],
};

const ASKING_PROMPT = 'test_input_required_result_prompt';

const RESOURCES = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content' },
};

function build() {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true }, logging: {}, completions: {} };
  const server = new Server({ name: 'conformance-fixture', version: '1.0.0' }, { capabilities });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(TOOLS).map((name) => ({ name, description: `Fixture of the scenario ${name}.`, inputSchema: SCHEMAS[name] ?? object() })),
  }));
  server.setRequestHandler('tools/call', (request, context) => {
    const tool = TOOLS[request.params.name];
    if (!tool) throw new ProtocolError(-32602, `Unknown tool: ${request.params.name}`);
    return tool(request.params.arguments ?? {}, context);
  });
  server.setRequestHandler('prompts/list', () => ({
    prompts: [[ASKING_PROMPT, [[]]], ...Object.entries(PROMPTS)].map(([name, [args]]) => ({ name, description: name, arguments: args.map((arg) => ({ name: arg, description: arg, required: true })) })),
  }));
  server.setRequestHandler('prompts/get', (request, context) => {
    if (request.params.name === ASKING_PROMPT) {
      const said = context.mcpReq.inputResponses;
      if (!said) return { resultType: 'input_required', inputRequests: requests({ user_context: ['elicitation/create', form('What context?', { context: { type: 'string' } }, ['context'])] }) };
      return { messages: [{ role: 'user', content: text(`Use this context: ${JSON.stringify(said)}`) }] };
    }
    const prompt = PROMPTS[request.params.name];
    if (!prompt) throw new ProtocolError(-32602, `Unknown prompt: ${request.params.name}`);
    return { messages: prompt[1](request.params.arguments ?? {}).map((content) => ({ role: 'user', content })) };
  });
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, description: uri, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', description: 'A template', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', (request) => {
    const { uri } = request.params;
    const id = uri.match(/^test:\/\/template\/([^/]+)\/data$/)?.[1];
    if (id) return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }] };
    if (!RESOURCES[uri]) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, ...RESOURCES[uri] }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', () => ({ completion: { values: ['paris', 'park', 'party'], total: 150, hasMore: false } }));
  return server;
}

const modern = createMcpHandler(build, { bus: new InMemoryServerEventBus(), legacy: 'reject' });
const serveModern = toNodeHandler(modern);
const sessions = new Map();

async function serveLegacy(request, response) {
  const known = sessions.get(request.headers['mcp-session-id']);
  if (known) return known.handleRequest(request, response);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await build().connect(transport);
  return transport.handleRequest(request, response);
}

const [isHost, isOrigin] = [localhostHostValidation(), localhostOriginValidation()];
const http = createServer(async (request, response) => {
  if (!isHost(request, response) || !isOrigin(request, response)) return;
  const isModern = (request.headers['mcp-protocol-version'] ?? '') >= '2026-07-28';
  await (isModern ? serveModern(request, response) : serveLegacy(request, response));
});
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
