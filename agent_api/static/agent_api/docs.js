// Opens the API document in Swagger UI. Nothing is asked of another host: the online validator stays off.
const place = document.getElementById("docs");
window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
