// What `make test` asks of the web app's JavaScript besides its format, which prettier keeps.

import js from "@eslint/js";
import globals from "globals";

const PAGES = "src/aleator/apps/web/static/js/**/*.js";
const TESTS = "tests/apps/web/js/**/*.js";

export default [
  { ignores: ["**/*", "!src/**", "!tests/**", "!*.js", "node_modules/**"] },
  js.configs.recommended,
  { files: [PAGES], languageOptions: { globals: globals.browser } },
  { files: [TESTS, "*.js"], languageOptions: { globals: globals.node } },
  {
    rules: {
      complexity: ["error", 10],
      eqeqeq: "error",
      "max-depth": ["error", 3],
      "max-len": ["error", { code: 140, ignoreUrls: true }],
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", { max: 60, skipComments: true }],
      "max-params": ["error", 4],
      "no-implicit-globals": "error",
      "no-shadow": "error",
      "no-unused-expressions": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
];
