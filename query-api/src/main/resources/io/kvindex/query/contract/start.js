// validatorUrl: else the page would ask a public server whether the file is valid.
SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#ui',
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
});
