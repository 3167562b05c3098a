public import Foundation

/// `request as? NSURLRequest` inside of `Any`, and back.
extension URLRequest: _ObjectiveCBridgeable {
    public static func _getObjectiveCType() -> Any.Type { NSURLRequest.self }

    public func _bridgeToObjectiveC() -> NSURLRequest { NSMutableURLRequest(self) }

    public static func _forceBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) {
        result = input.request
    }

    public static func _conditionallyBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = input.request
        return true
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        guard let source else {
            // The compiler passes nil where Objective-C broke a promise, and there is no Objective-C here.
            let nothing = RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
            return URLRequest(storage: RequestStorage(nothing))
        }
        return source.request
    }
}

extension NSURLRequest: _StructTypeBridgeable {
    public typealias _StructType = URLRequest

    public func _bridgeToSwift() -> URLRequest { request }
}
