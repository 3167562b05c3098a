/// How often a proxy has refused a request for its credentials, and what it bore the last time.
struct ProxyAttempt {
    var sent: String?
    var rounds = 0
}
