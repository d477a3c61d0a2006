// Where the server is, and the key if it requires one.

class FlarewireApi {
  name = "flarewireApi";
  displayName = "Flarewire API";
  properties = [
    { displayName: "URL", name: "url", type: "string", default: "http://127.0.0.1:8080" },
    { displayName: "Key", name: "key", type: "string", typeOptions: { password: true }, default: "" },
  ];
}

module.exports = { FlarewireApi };
